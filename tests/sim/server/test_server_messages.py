"""The door between CARLA's frame and the world's: what comes in goes out again, exactly, and nothing else comes in."""

from __future__ import annotations

import math
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.sim.engine import Pose3
from driveproof.sim.server import messages as m
from driveproof.sim.server.debug_shapes import DEBUG_SHAPE, MAX_SHAPES, DebugShapes
from driveproof.sim.server.physics import PHYSICS
from driveproof.sim.server.snapshot import carla_degrees
from driveproof.sim.server.wire import (
    FLAG,
    REAL,
    TEXT,
    U8,
    Codec,
    WireError,
    optional,
    row,
    sequence,
    variant,
)

f32 = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
angle32 = st.floats(width=32, min_value=-180.0, max_value=180.0, exclude_min=True)
vector = st.lists(f32, min_size=3, max_size=3)
rotation = st.lists(angle32, min_size=3, max_size=3)
transform = st.tuples(vector, rotation).map(list)
flag = st.booleans()

STRUCTS: dict[str, tuple[Codec[Any], Any]] = {
    "vector": (m.VECTOR, vector),
    "extent": (m.EXTENT, vector),
    "torque": (m.AXIS, vector),
    "spin": (m.SPIN, vector),
    "rotation": (m.ROTATION, rotation),
    "transform": (m.POSE, transform),
    "box": (m.BOX, st.tuples(vector, vector, rotation, st.integers(0, 2**32 - 1)).map(list)),
    "weather": (m.WEATHER, st.lists(f32, min_size=14, max_size=14)),
    "control": (
        m.CONTROL,
        st.tuples(f32, f32, f32, flag, flag, flag, st.integers(-1, 8)).map(list),
    ),
    "ackermann": (m.ACKERMANN, st.lists(f32, min_size=5, max_size=5)),
    "walker": (m.WALKER_CONTROL, st.tuples(vector, f32, flag).map(list)),
    "settings": (
        m.SETTINGS,
        st.tuples(
            flag,
            flag,
            st.one_of(st.just([False]), f32.map(lambda value: [True, value])),
            flag,
            f32,
            st.integers(0, 100),
            f32,
            flag,
            f32,
            f32,
            flag,
        ).map(list),
    ),
    "description": (
        m.DESCRIPTION,
        st.tuples(
            st.integers(0, 2**32 - 1),
            st.text(max_size=20),
            st.lists(
                st.tuples(st.text(max_size=8), st.integers(1, 5), st.text(max_size=8)).map(list),
                unique_by=lambda item: item[0],
                max_size=4,
            ),
        ).map(list),
    ),
}


def plain(value: Any) -> Any:
    """What the client would read: float32 numbers, lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(np.float32(value))
    return value


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTS)
@given(data=st.data())
def test_a_message_that_comes_in_goes_out_the_same(name: str, data: st.DataObject) -> None:
    codec, wires = STRUCTS[name]
    wire = data.draw(wires)
    assert plain(codec.encode(codec.decode(wire))) == plain(wire)


@pytest.mark.parametrize("name", STRUCTS)
def test_what_is_no_message_is_refused(name: str) -> None:
    codec, _ = STRUCTS[name]
    for bad in (None, True, 3, "text", b"bytes", {}, [None], [[[]]], ["x"] * 20):
        with pytest.raises(WireError):
            codec.decode(bad)


def test_frames_turn_as_carla_does() -> None:
    # East 10 m, 2 m to the right of it; nose turned a quarter to the right.
    pose = m.POSE.decode([[10.0, 2.0, 0.5], [5.0, 90.0, 3.0]])
    assert (pose.x, pose.y, pose.z) == (10.0, -2.0, 0.5)
    assert pose.yaw == pytest.approx(-math.pi / 2)
    assert math.degrees(pose.pitch) == pytest.approx(5.0)
    assert math.degrees(pose.roll) == pytest.approx(3.0)
    # The nose of the pose points where CARLA's forward vector does (cos p cos y, cos p sin y, sin p), mirrored.
    nose = pose.matrix()[:3, 0]
    assert nose == pytest.approx([0.0, -math.cos(math.radians(5)), math.sin(math.radians(5))])
    # Turning to the right at 30 degrees a second is negative about the upward axis here, positive in CARLA.
    assert m.SPIN.decode([0.0, 0.0, 30.0])[2] == pytest.approx(-math.pi / 6)


@pytest.mark.parametrize(
    ("degrees", "seen"),
    [(0.0, 0.0), (360.0, 0.0), (-360.0, 0.0), (359.5, -0.5), (180.0, 180.0), (-180.0, 180.0)],
)
def test_angles_leave_within_a_half_turn(degrees: float, seen: float) -> None:
    pose = Pose3(
        roll=math.radians(degrees), pitch=math.radians(degrees), yaw=-math.radians(degrees)
    )
    assert m.ROTATION.encode(pose) == pytest.approx([seen] * 3)
    table = np.array([[pose.roll, pose.pitch, pose.yaw]])
    assert carla_degrees(table)[0] == pytest.approx([seen] * 3)


@given(st.lists(rotation, min_size=1, max_size=5))
def test_snapshots_and_messages_agree_on_angles(rotations: list[list[float]]) -> None:
    poses = [m.ROTATION.decode(item) for item in rotations]
    table = np.array([[pose.roll, pose.pitch, pose.yaw] for pose in poses])
    assert carla_degrees(table).astype(np.float32).tolist() == [plain(item) for item in rotations]


def test_short_messages_keep_defaults_and_long_ones_lose_their_tail() -> None:
    box = m.BOX.decode([[0, 0, 0], [1, 1, 1]])
    assert box.actor_id == 0
    assert m.CONTROL.decode([0.5]).throttle == 0.5
    assert m.CONTROL.decode([0.5, 0.0, 0.0, False, False, False, 1, "extra"]).gear == 1
    with pytest.raises(WireError, match="offset"):
        m.BOX.decode([[0, "a", 0], [1, 1, 1]])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "1", None, True])
def test_only_finite_numbers_are_numbers(bad: Any) -> None:
    with pytest.raises(WireError):
        REAL.decode(bad)


def test_bricks() -> None:
    assert optional(REAL).decode([False]) is None
    assert optional(REAL).decode([True, 2]) == 2.0
    assert optional(REAL).encode(None) == [False]
    for bad in ([], [True], [1, 2], 0):
        with pytest.raises(WireError):
            optional(REAL).decode(bad)
    choice = variant(TEXT, REAL)
    assert choice.decode([1, 3]) == (1, 3.0)
    for bad in ([2, 3], [-1, 3], [1], ["1", 3]):
        with pytest.raises(WireError):
            choice.decode(bad)
    assert sequence(U8).decode([0, 255]) == [0, 255]
    for wire in ([256], [-1], [True], [1.0]):
        with pytest.raises(WireError):
            sequence(U8).decode(wire)
    with pytest.raises(WireError):
        row(FLAG, FLAG).decode([True])


def test_debug_shapes_are_read() -> None:
    blue = [0, 0, 255]
    arrow = DEBUG_SHAPE.decode([[2, [[[0, 1, 0], [1, 0, 0], 0.1], 0.3]], blue, 5.0, True])
    assert arrow.shape.kind == "arrow"
    assert arrow.shape.points.tolist() == [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]
    assert (arrow.life_time, arrow.shape.colour) == (5.0, (0, 0, 255))
    point = DEBUG_SHAPE.decode([[5, [[0, 1, 0], 0.2]], blue, -1.0, True])
    assert point.shape.kind == "point"
    box = DEBUG_SHAPE.decode(
        [[3, [[[10, 20, 3], [4, 1, 1], [0, 0, 0], 0], [0, 90, 0], 0.1]], blue, 0.0, True]
    )
    low, high = box.shape.points.min(0), box.shape.points.max(0)
    assert low == pytest.approx([9.0, -24.0, 2.0]), "turned a quarter, its length lies across"
    assert high == pytest.approx([11.0, -16.0, 2.0])
    text = DEBUG_SHAPE.decode([[4, [[0, 0, 0], "hello", False]], blue, -1.0, True])
    assert text.shape.text == "hello"


def test_debug_shapes_live_as_long_as_they_say() -> None:
    shapes = DebugShapes()
    for life_time in (0.0, 0.1, -1.0):
        wire = [[4, [[0, 0, 0], str(life_time), False]], [1, 2, 3], life_time, True]
        shapes.add(DEBUG_SHAPE.decode(wire), now=5.0)
    seen = []
    for now in (5.05, 5.1, 5.15):
        seen.append([shape.text for shape in shapes])
        shapes.expire(now)
    assert seen == [["0.0", "0.1", "-1.0"], ["0.1", "-1.0"], ["-1.0"]]
    for _ in range(MAX_SHAPES + 10):
        shapes.add(DEBUG_SHAPE.decode(wire), now=6.0)
    assert len(shapes) == MAX_SHAPES


def test_physics_survives_messagepack() -> None:
    wheel = [3.5, 0.25, 70.0, 35.5, 1500.0, 3000.0, 2.0, 17.0, 1000.0, [100.0, -80.0, 35.0]]
    wire = [
        [[0.0, 400.0], [6000.0, 350.0]],
        *[6000.0, 1.0, 0.15, 2.0, 0.35, True, 0.5, 10.0, 4.0],
        [[4.0, 0.5, 0.65]],
        *[1800.0, 0.3, [0.45, 0.0, -0.3], [[0.0, 1.0], [100.0, 0.9]], [wheel] * 4, False],
    ]
    packed = msgpack.packb(PHYSICS.encode(PHYSICS.decode(wire)))
    assert msgpack.unpackb(packed) == wire
