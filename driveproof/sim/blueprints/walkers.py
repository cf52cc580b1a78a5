"""The pedestrians of CARLA 0.9.16 and the controller that walks them."""

from __future__ import annotations

from driveproof.sim.blueprints.model import (
    AttributeType,
    Blueprint,
    WalkerSpec,
    constant,
    flag,
    option,
)

_CHILDREN = {*range(9, 15), 48, 49}
_TEENAGERS = {50, 51}
_WOMEN = {1, *range(5, 12), 15, *range(19, 24), 31, 32, *range(35, 38), *range(40, 45), 48, 49, 50}
_NO_WHEELCHAIR = {30, 32, 42, 43, 44, *range(48, 53)} | _CHILDREN

#: Capsules of grown-ups and of the two builds of children: radius and height in metres.
_ADULT, _SMALL, _YOUNG = (0.1876788, 1.86), (0.25, 1.1), (0.1876788, 1.3)


def walkers() -> list[Blueprint]:
    """All pedestrian blueprints, 0001 to 0052, and ``controller.ai.walker``."""
    controller = Blueprint(
        "controller.ai.walker",
        ("controller", "ai", "walker"),
        (
            option("role_name", AttributeType.STRING, "default"),
            option("ros_name", AttributeType.STRING, "controller.ai.walker"),
        ),
    )
    return [controller, *(_blueprint(number) for number in range(1, 53))]


def _spec(number: int) -> WalkerSpec:
    child = number in _CHILDREN
    young = child or number in _TEENAGERS
    radius, height = (_YOUNG if number in (12, 13, 14) else _SMALL) if child else _ADULT
    return WalkerSpec(
        radius=radius,
        height=height,
        age="child" if child else "teenager" if young else "adult",
        gender="female" if number in _WOMEN else "male",
        generation=1 if number < 15 else 2 if number < 50 else 3,
        walk_speed=1.1 if young else 1.8 if number in (1, 5, 6, 7, 8, 15) else 1.7,
        run_speed=2.0 if young else 4.0,
    )


def _blueprint(number: int) -> Blueprint:
    spec, identity = _spec(number), f"walker.pedestrian.{number:04d}"
    wheelchair = number not in _NO_WHEELCHAIR
    choices = ("false", "true") if wheelchair else ("false",)
    attributes = (
        option("role_name", AttributeType.STRING, "pedestrian"),
        option("ros_name", AttributeType.STRING, identity),
        constant("gender", AttributeType.STRING, spec.gender),
        constant("generation", AttributeType.INT, str(spec.generation)),
        constant("age", AttributeType.STRING, spec.age),
        constant("can_use_wheelchair", AttributeType.BOOL, flag(wheelchair)),
        # standing, walking, running: what CARLA's traffic scripts index
        option("speed", AttributeType.FLOAT, "0.0", str(spec.walk_speed), str(spec.run_speed)),
        option("is_invincible", AttributeType.BOOL, "true"),
        option("use_wheelchair", AttributeType.BOOL, *choices, restricted=True),
    )
    return Blueprint(identity, tuple(identity.split(".")), attributes, spec)
