"""Writing route files that CARLA's leaderboard reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from driveproof.files import atomic_path
from driveproof.geometry.carla_frame import to_carla_yaw
from driveproof.sim.routes.spec import Parameter, Place, RouteSpec, ScenarioSpec


def write_routes(routes: Iterable[RouteSpec], path: str | Path) -> None:
    """Write routes; reading them again gives the same routes (to a millimetre and 1/1000 degree).

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    root = Element("routes")
    for route in routes:
        element = SubElement(root, "route", id=route.key, town=route.town)
        if route.weathers:
            weathers = SubElement(element, "weathers")
            for key in route.weathers:
                values = {name: _number(value) for name, value in key.values.items()}
                values["route_percentage"] = _number(100.0 * key.share)
                SubElement(weathers, "weather", values)
        waypoints = SubElement(element, "waypoints")
        for x, y, z in route.positions.tolist():
            SubElement(waypoints, "position", _place(Place(x, y, z)))
        scenarios = SubElement(element, "scenarios")
        for scenario in route.scenarios:
            _scenario(scenarios, scenario)
    indent(root, "   ")
    with atomic_path(path) as temporary:
        ElementTree(root).write(temporary, encoding="unicode")


def _scenario(parent: Element, scenario: ScenarioSpec) -> None:
    element = SubElement(parent, "scenario", name=scenario.name, type=scenario.type)
    SubElement(element, "trigger_point", _place(scenario.trigger))
    for tag, value in scenario.parameters.items():
        SubElement(element, tag, _attributes(value))


def _attributes(value: Parameter) -> dict[str, str]:
    if isinstance(value, Place):
        return _place(value)
    if isinstance(value, tuple):
        return {"from": _number(value[0]), "to": _number(value[1])}
    return {"value": value if isinstance(value, str) else _number(value)}


def _place(place: Place) -> dict[str, str]:
    attributes = {"x": _number(place.x), "y": _number(-place.y), "z": _number(place.z)}
    if place.heading is not None:
        attributes["yaw"] = _number(float(to_carla_yaw(place.heading)))
    return attributes


def _number(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
