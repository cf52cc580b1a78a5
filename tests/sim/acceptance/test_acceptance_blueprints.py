"""The blueprint library as clients see it."""

from __future__ import annotations

import re

import pytest

carla = pytest.importorskip("carla")


@pytest.fixture
def blueprints(client):
    return client.get_world().get_blueprint_library()


def test_ids_have_three_parts_and_every_family_is_there(blueprints) -> None:
    assert all(re.match(r"\S+\.\S+\.\S+", b.id) for b in blueprints)
    for family in ("sensor", "static", "vehicle", "walker", "controller"):
        found = blueprints.filter(f"{family}.*")
        assert len(found) > 0
        assert all(b.id.startswith(f"{family}.") for b in found)
    assert len(blueprints.filter("vehicle.*")) == 41
    assert len(blueprints.filter("walker.pedestrian.*")) == 52


def test_filters_find_parts_of_ids_and_attributes(blueprints) -> None:
    assert {b.id for b in blueprints.filter("*lincoln*")} == {
        "vehicle.lincoln.mkz_2017",
        "vehicle.lincoln.mkz_2020",
    }
    assert [b.id for b in blueprints.filter("tt")] == ["vehicle.audi.tt"]
    assert {b.id for b in blueprints.filter_by_attribute("base_type", "bus")} == {
        "vehicle.mitsubishi.fusorosa"
    }
    bikes = blueprints.filter_by_attribute("number_of_wheels", "2")
    assert {b.get_attribute("base_type").as_str() for b in bikes} == {"bicycle", "motorcycle"}


def test_an_unknown_id_is_an_index_error(blueprints) -> None:
    with pytest.raises(IndexError):
        blueprints.find("vehicle.trabant.601")


def test_attributes_have_types_values_and_recommendations(blueprints) -> None:
    car = blueprints.find("vehicle.tesla.model3")
    assert set(car.tags) == {"vehicle", "tesla", "model3"}
    assert car.has_tag("tesla")
    assert int(car.get_attribute("number_of_wheels")) == 4
    assert not car.get_attribute("has_lights").as_bool()
    colour = car.get_attribute("color")
    assert colour.type == carla.ActorAttributeType.RGBColor
    assert len(colour.recommended_values) > 1
    car.set_attribute("color", "10,20,30")
    assert car.get_attribute("color").as_color() == carla.Color(10, 20, 30)
    assert not car.get_attribute("number_of_wheels").is_modifiable
    with pytest.raises(ValueError, match="read-only"):
        car.set_attribute("number_of_wheels", "3")
    with pytest.raises(IndexError):
        car.set_attribute("wings", "2")


def test_what_traffic_programs_set_can_be_set(blueprints) -> None:
    for blueprint in blueprints.filter("vehicle.*"):
        assert "hero" not in blueprint.get_attribute("role_name").recommended_values
        blueprint.set_attribute("role_name", "hero")
        assert blueprint.get_attribute("generation").as_int() in (1, 2)
        assert blueprint.get_attribute("base_type").as_str()
        if blueprint.has_attribute("driver_id"):
            names = blueprint.get_attribute("driver_id").recommended_values
            blueprint.set_attribute("driver_id", names[0])
    for blueprint in blueprints.filter("walker.*"):
        speeds = [float(text) for text in blueprint.get_attribute("speed").recommended_values]
        assert speeds[0] == 0.0 < speeds[1] < speeds[2]
        blueprint.set_attribute("is_invincible", "false")


def test_what_sensor_programs_set_can_be_set(blueprints) -> None:
    wanted = {
        "sensor.camera.rgb": (
            "image_size_x",
            "image_size_y",
            "fov",
            "gamma",
            "iso",
            "shutter_speed",
        ),
        "sensor.lidar.ray_cast": ("channels", "range", "dropoff_general_rate", "noise_seed"),
        "sensor.lidar.ray_cast_semantic": ("points_per_second", "rotation_frequency", "lower_fov"),
        "sensor.other.radar": ("horizontal_fov", "noise_seed", "range"),
        "sensor.other.gnss": ("noise_lat_bias", "noise_seed"),
        "sensor.other.imu": ("noise_accel_stddev_x", "noise_gyro_bias_z"),
        "sensor.other.obstacle": ("distance", "hit_radius"),
    }
    for name, attributes in wanted.items():
        blueprint = blueprints.find(name)
        for attribute in (*attributes, "sensor_tick"):
            blueprint.set_attribute(attribute, "1")
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        blueprints.find("sensor.camera.rgb").get_attribute("no_such")
