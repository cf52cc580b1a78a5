"""Friction volumes, slipping tyres and controls that do not stick."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driveproof.maps import town_from_opendrive
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Engine, Pose3, VehicleControl
from driveproof.sim.engine.ground import FlatGround

ROAD = """<OpenDRIVE><header revMajor="1" revMinor="4"/><road name="" length="900" id="1" junction="-1">
<planView><geometry s="0" x="0" y="0" hdg="0" length="900"><line/></geometry></planView>
<lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/></center><right>
<lane id="-1" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>
</right></laneSection></lanes></road></OpenDRIVE>"""


@pytest.fixture
def engine() -> Engine:
    return Engine(town_from_opendrive("Straight", ROAD), library(), ground=FlatGround())


def slippery(car, friction: float) -> None:
    wheels = tuple(replace(wheel, friction=friction) for wheel in car.physics.wheels)
    car.physics = replace(car.physics, wheels=wheels, drag_area=0.0)


def test_tyres_without_friction_neither_drive_nor_brake(engine: Engine) -> None:
    car = engine.spawn("vehicle.tesla.model3")
    slippery(car, 0.0)
    car.velocity = (20.0, 0.0, 0.0)
    for control in (VehicleControl(throttle=1.0), VehicleControl(brake=1.0), VehicleControl()):
        car.control = control
        for _ in range(40):
            engine.step(0.05)
        assert car.velocity[0] == pytest.approx(20.0, abs=1e-6)


def test_braking_is_as_short_as_tyres_and_pads_allow(engine: Engine) -> None:
    gone = {}
    for friction in (0.5, 1.0, 3.5):
        car = engine.spawn("vehicle.tesla.model3")
        slippery(car, friction)
        car.velocity = (20.0, 0.0, 0.0)
        car.control = VehicleControl(brake=1.0)
        for _ in range(300):
            engine.step(0.05)
        gone[friction] = car.pose.x
        engine.destroy(car.id)
    assert gone[0.5] == pytest.approx(20.0**2 / (2 * 0.6 * 0.5 * 9.81), rel=0.15)
    assert gone[0.5] > 1.5 * gone[1.0] > 1.5 * gone[3.5]


def test_a_volume_lends_its_friction_and_takes_it_back(engine: Engine) -> None:
    car = engine.spawn("vehicle.audi.tt")
    slippery(car, 0.0)
    car.velocity = (10.0, 0.0, 0.0)
    half = {"extent_x": "500", "extent_y": "300", "extent_z": "300", "friction": "2.5"}
    engine.spawn("static.trigger.friction", half, Pose3(x=20.0))
    seen = {}
    for _ in range(80):
        before = car.pose.x
        engine.step(0.05)
        seen[before] = car.physics.wheels[0].friction
    assert {f for x, f in seen.items() if 15.0 <= x <= 25.0} == {2.5}
    assert {f for x, f in seen.items() if x < 15.0 or x > 25.0} == {0.0}


def test_a_destroyed_volume_gives_back_too(engine: Engine) -> None:
    car = engine.spawn("vehicle.audi.tt")
    half = {"extent_x": "500", "extent_y": "500", "extent_z": "300", "friction": "1.5"}
    volume = engine.spawn("static.trigger.friction", half)
    own = car.physics.wheels[0].friction
    engine.step(0.05)
    assert car.physics.wheels[0].friction == 1.5
    engine.destroy(volume.id)
    engine.step(0.05)
    assert car.physics.wheels[0].friction == own


def test_controls_that_do_not_stick_last_one_step(engine: Engine) -> None:
    car = engine.spawn("vehicle.audi.a2", {"sticky_control": "false"})
    other = engine.spawn("vehicle.audi.a2", pose=Pose3(y=-8.0))
    for each in (car, other):
        each.control = VehicleControl(throttle=1.0)
    for _ in range(40):
        engine.step(0.05)
    assert car.control.throttle == 0.0
    assert other.control.throttle == 1.0
    assert other.pose.x > car.pose.x + 3.0


def test_wheels_without_load_do_not_drive(engine: Engine) -> None:
    car = engine.spawn("vehicle.audi.a2")
    engine.table.gravity[car.row] = False
    car.velocity = (5.0, 0.0, 0.0)
    car.control = VehicleControl(brake=1.0)
    for _ in range(20):
        engine.step(0.05)
    assert car.velocity[0] == pytest.approx(5.0)


@pytest.mark.parametrize("name", ["vehicle.yamaha.yzf", "vehicle.bh.crossbike"])
def test_two_wheelers_have_four_wheels_as_in_carla(engine: Engine, name: str) -> None:
    bike = engine.spawn(name)
    assert len(bike.physics.wheels) == 4
