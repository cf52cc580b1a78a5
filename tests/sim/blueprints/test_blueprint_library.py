"""The blueprint library: complete, deterministic, true to recorded sizes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.sim.blueprints import AttributeType, PropSpec, VehicleSpec, WalkerSpec, library

LIBRARY = library()


def test_holds_every_kind_in_the_numbers_of_the_release() -> None:
    assert len(LIBRARY.filter("vehicle.*")) == 41
    assert len(LIBRARY.filter("walker.pedestrian.*")) == 52
    assert len(LIBRARY.filter("sensor.*")) == 19
    assert len(LIBRARY.filter("static.prop.*")) > 90
    for name in (
        "controller.ai.walker",
        "static.trigger.friction",
        "static.prop.trafficwarning",
        "static.prop.mesh",
        "util.actor.empty",
        "vehicle.mitsubishi.fusorosa",
    ):
        assert name in LIBRARY


def test_order_and_numbers_follow_the_ids() -> None:
    names = list(LIBRARY)
    assert names == sorted(names)
    assert [LIBRARY.uid(name) for name in names] == list(range(1, len(names) + 1))
    assert library() is LIBRARY


def test_every_default_reads_as_its_type_and_is_recommended() -> None:
    for blueprint in LIBRARY.values():
        names = [a.id for a in blueprint.attributes]
        assert len(names) == len(set(names))
        assert "role_name" in names
        assert blueprint.tags == tuple(blueprint.id.split(".", 2))
        for attribute in blueprint.attributes:
            assert attribute.accepts(attribute.value), (blueprint.id, attribute)
            assert all(attribute.accepts(text) for text in attribute.recommended)
            if attribute.modifiable:
                assert attribute.value == attribute.recommended[0]


def test_vehicles_have_bodies_that_can_drive() -> None:
    for blueprint in LIBRARY.filter("vehicle.*"):
        spec = blueprint.spec
        assert isinstance(spec, VehicleSpec)
        x, y, z = spec.half_extent
        assert x > y > 0 or spec.base_type == "car"
        assert spec.wheelbase < 2 * x
        assert abs(spec.box_offset[2] - z) < 0.2, "a vehicle stands on the ground"
        assert blueprint.attribute("number_of_wheels").value == str(spec.wheels)
        assert (blueprint.attribute("driver_id") is not None) == (spec.wheels == 2)


def test_only_late_models_have_lights_and_all_with_doors_have_lights() -> None:
    for blueprint in LIBRARY.filter("vehicle.*"):
        spec = blueprint.spec
        assert spec.has_lights or not spec.has_doors
        assert spec.generation == 2 or not spec.has_lights


def test_walkers_and_props_have_bodies() -> None:
    for blueprint in LIBRARY.filter("walker.*"):
        assert isinstance(blueprint.spec, WalkerSpec)
        assert (blueprint.spec.age == "child") == (blueprint.spec.height < 1.5)
        assert len(blueprint.attribute("speed").recommended) == 3
    for blueprint in LIBRARY.filter("static.prop.*"):
        assert isinstance(blueprint.spec, PropSpec)
        assert min(blueprint.spec.half_extent) > 0


def test_values_take_what_may_be_chosen_and_refuse_what_does_not_read() -> None:
    car = LIBRARY["vehicle.tesla.model3"]
    values = car.values({"color": "1,2,3", "number_of_wheels": "7", "nonsense": "x"})
    assert values["color"] == "1,2,3"
    assert values["number_of_wheels"] == "4"
    assert "nonsense" not in values
    for bad in ("1,2", "1,2,300", "red", ""):
        with pytest.raises(BadInput):
            car.values({"color": bad})
    with pytest.raises(BadInput):
        LIBRARY["sensor.camera.rgb"].values({"fov": "nan"})


@given(st.sampled_from(list(AttributeType)), st.text(max_size=20))
def test_hostile_values_are_refused_or_read(kind: AttributeType, text: str) -> None:
    attributes = [a for b in LIBRARY.values() for a in b.attributes if a.kind is kind]
    assert attributes[0].accepts(text) in (True, False)


@pytest.mark.shared
def test_boxes_are_those_of_recorded_clips(shared_dir: Path) -> None:
    recorded = {}
    for path in sorted(shared_dir.glob("data/fixtures/bench2drive/anno_excerpt/*.json.gz")):
        for box in json.loads(gzip.decompress(path.read_bytes()))["bounding_boxes"]:
            if box.get("type_id") in LIBRARY and "bbx_loc" in box:
                recorded[box["type_id"]] = (box["extent"], box["bbx_loc"])
    assert recorded
    for name, (extent, centre) in recorded.items():
        spec = LIBRARY[name].spec
        assert spec.half_extent == pytest.approx(extent, abs=2e-3), name
        left_handed = [spec.box_offset[0], -spec.box_offset[1], spec.box_offset[2]]
        assert left_handed == pytest.approx(centre, abs=2e-3), name
