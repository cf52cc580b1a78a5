"""Reading route files: the leaderboard's ``<routes>`` and scenario_runner's ``<scenarios>``.

Files come from anywhere: entities and document types are refused, sizes are bounded, and every number
must be one. A misspelled tag is read as what its attributes say and reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from driveproof.errors import BadInput
from driveproof.geometry.carla_frame import from_carla_yaw
from driveproof.sim.routes.names import canonical
from driveproof.sim.routes.spec import (
    WEATHER_FIELDS,
    Finding,
    FindingKind,
    Parameter,
    Place,
    RouteSpec,
    ScenarioSpec,
    WeatherKey,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_BYTES = 64 * 2**20
"""The largest known route file has 1.2 MB."""
MAX_COORDINATE = 1e6
"""Metres; no town is larger."""
MAX_POSITIONS = 20_000
"""Of one route: twenty kilometres at a metre each; to find roads for many more takes minutes and gigabytes."""
_SECTIONS = ("waypoints", "scenarios", "weathers")


def parse_routes(path: str | Path) -> list[RouteSpec]:
    """The routes of a file.

    Raises
    ------
    BadInput
        Names the file and the element that is truncated, hostile, missing or no number.
    """
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    if len(data) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES // 2**20} MiB", path=path)
    return parse_text(data, path)


def parse_text(data: bytes | str, path: str | Path = "routes") -> list[RouteSpec]:
    """The routes in XML text; ``path`` names the file in errors, which are those of :func:`parse_routes`."""
    try:
        root = fromstring(data, forbid_dtd=True)
    except DefusedXmlException as error:
        raise BadInput(f"hostile XML: {type(error).__name__}", path=path) from None
    except (ParseError, ValueError, LookupError) as error:
        raise BadInput(f"not XML: {error}", path=path) from None
    if root.tag == "routes":
        routes = [_Reader(path, _name(e, "route", i)).route(e) for i, e in enumerate(root)]
    elif root.tag == "scenarios":
        routes = [_Reader(path, _name(e, "scenario", i)).start(e) for i, e in enumerate(root)]
    else:
        raise BadInput(f"<{root.tag[:40]}> is no route file", path=path, hint="expected <routes>")
    if not routes:
        raise BadInput("holds no route", path=path)
    return _without_twins(routes)


def _name(element: Element, kind: str, index: int) -> str:
    return f"{kind} {element.get('id') or element.get('name') or f'number {index + 1}'}"


def _without_twins(routes: list[RouteSpec]) -> list[RouteSpec]:
    seen: set[str] = set()
    for index, route in enumerate(routes):
        if route.key in seen:
            twin = Finding(route.key, FindingKind.DUPLICATE_ID, "another route has the same id")
            routes[index] = RouteSpec(
                route.key,
                route.town,
                route.positions,
                route.scenarios,
                route.weathers,
                (*route.findings, twin),
            )
        seen.add(route.key)
    return routes


class _Reader:
    """Reads one route; knows where it is, for errors."""

    def __init__(self, path: str | Path, where: str) -> None:
        self._path, self._where = path, where
        self._key = ""
        self._findings: list[Finding] = []

    def route(self, element: Element) -> RouteSpec:
        """A ``<route>``."""
        if element.tag != "route":
            raise self._bad(f"<{element.tag[:40]}> where <route> is expected")
        self._key = self._text(element, "id", "")
        town = self._town(element)
        parts = {name: element.findall(name) for name in _SECTIONS}
        for child in element:
            if child.tag not in _SECTIONS:
                self._note(FindingKind.UNKNOWN_TAG, f"<{child.tag[:40]}> is ignored")
        points = list(self._items(parts["waypoints"], "position", {"x", "y", "z"}))
        if not points:
            raise self._bad("no position", "waypoints")
        if len(points) > MAX_POSITIONS:
            raise self._bad(f"more than {MAX_POSITIONS:,} positions", "waypoints")
        positions = [
            self._place(item, f"position {index + 1}") for index, item in enumerate(points)
        ]
        scenarios = [
            self._scenario(item) for item in self._items(parts["scenarios"], "scenario", {"type"})
        ]
        weathers = [
            self._weather(item, index)
            for index, item in enumerate(
                self._items(parts["weathers"], "weather", {"route_percentage"})
            )
        ]
        if not weathers:
            self._note(FindingKind.MISSING_WEATHER, "no weather: the simulator keeps its own")
        return RouteSpec(
            self._key,
            town,
            np.array([[p.x, p.y, p.z] for p in positions]),
            tuple(scenarios),
            tuple(sorted(weathers, key=lambda key: key.share)),
            tuple(self._findings),
        )

    def start(self, element: Element) -> RouteSpec:
        """A ``<scenario>`` of scenario_runner: no way, only where the ego starts."""
        if element.tag != "scenario":
            raise self._bad(f"<{element.tag[:40]}> where <scenario> is expected")
        self._key = self._text(element, "name", "")
        ego = element.find("ego_vehicle")
        if ego is None:
            raise self._bad("no start", "ego_vehicle")
        place = self._place(ego, "ego_vehicle")
        weathers = [self._weather(item, i) for i, item in enumerate(element.findall("weather"))]
        self._note(FindingKind.ONLY_A_START, "names where the ego starts and no way")
        return RouteSpec(
            self._key,
            self._town(element),
            np.array([[place.x, place.y, place.z]]),
            (self._scenario(element, place),),
            tuple(weathers),
            tuple(self._findings),
        )

    def _items(self, sections: list[Element], tag: str, signature: set[str]) -> Iterator[Element]:
        """The children that are a ``tag``: by their name, or, misspelled, by their attributes."""
        for section in sections:
            for item in section:
                if item.tag != tag and signature <= set(item.attrib):
                    self._note(FindingKind.MISSPELLED_TAG, f"<{item.tag[:40]}> is read as <{tag}>")
                elif item.tag != tag:
                    self._note(FindingKind.UNKNOWN_TAG, f"<{item.tag[:40]}> is ignored")
                    continue
                yield item

    def _scenario(self, element: Element, trigger: Place | None = None) -> ScenarioSpec:
        written = self._text(element, "type", "scenario")
        name = element.get("name") or written
        where = f"scenario {name}"
        parameters: dict[str, Parameter] = {}
        for child in element:
            if child.tag == "trigger_point":
                trigger = self._place(child, f"{where}: trigger_point")
            elif child.tag not in ("ego_vehicle", "weather"):
                value = self._parameter(child, f"{where}: {child.tag[:40]}")
                if value is None:
                    self._note(FindingKind.UNKNOWN_TAG, f"<{child.tag[:40]}> is ignored", where)
                else:
                    parameters[child.tag] = value
        if trigger is None:
            raise self._bad("no trigger_point", where)
        known = canonical(written)
        if known is None:
            self._note(FindingKind.UNKNOWN_SCENARIO, f"no scenario type {written[:60]!r}", where)
        elif known != written:
            self._note(FindingKind.ALIAS, f"{written} is {known}", where)
        return ScenarioSpec(name, known or written, written, trigger, parameters)

    def _parameter(self, element: Element, where: str) -> Parameter | None:
        keys = set(element.attrib)
        if {"x", "y", "z"} <= keys:
            return self._place(element, where)
        if {"from", "to"} <= keys:
            low, high = self._number(element, "from", where), self._number(element, "to", where)
            if low > high:
                raise self._bad("from is larger than to", where)
            return low, high
        if "value" in keys:
            text = element.attrib["value"]
            return text if _is_word(text) else self._number(element, "value", where)
        return None

    def _weather(self, element: Element, index: int) -> WeatherKey:
        where = f"weather {index + 1}"
        for name in sorted(set(element.attrib) - {*WEATHER_FIELDS, "route_percentage"}):
            self._note(FindingKind.UNKNOWN_TAG, f"weather field {name[:40]!r} is ignored", where)
        share = 0.0
        if "route_percentage" in element.attrib:
            share = self._number(element, "route_percentage", where) / 100.0
        values = {
            name: self._number(element, name, where)
            for name in WEATHER_FIELDS
            if name in element.attrib
        }
        return WeatherKey(share, values)

    def _place(self, element: Element, where: str) -> Place:
        x, y, z = (self._number(element, key, where) for key in "xyz")
        heading = None
        if "yaw" in element.attrib:
            heading = float(from_carla_yaw(self._number(element, "yaw", where)))
        return Place(x, -y, z, heading)

    def _number(self, element: Element, key: str, where: str) -> float:
        text = element.get(key)
        if text is None:
            raise self._bad("is missing", f"{where}.{key}")
        try:
            value = float(text)
        except ValueError:
            raise self._bad(f"{text[:40]!r} is no number", f"{where}.{key}") from None
        if not math.isfinite(value) or abs(value) > MAX_COORDINATE:
            raise self._bad(f"{text[:40]} is not finite or far off", f"{where}.{key}")
        return value

    def _text(self, element: Element, key: str, where: str) -> str:
        text = (element.get(key) or "").strip()
        if not text:
            raise self._bad("is missing", f"{where}.{key}" if where else key)
        return text

    def _town(self, element: Element) -> str:
        town = self._text(element, "town", "").rsplit("/", 1)[-1]
        return town.removesuffix("_Opt")

    def _note(self, kind: FindingKind, text: str, where: str = "") -> None:
        self._findings.append(Finding(self._key, kind, text, where))

    def _bad(self, problem: str, where: str = "") -> BadInput:
        field = f"{self._where}: {where}" if where else self._where
        return BadInput(problem, path=self._path, field=field[:160])


def _is_word(text: str) -> bool:
    """Whether a value is a word ("right", "static.prop.chair") and not a number, right or wrong.

    "nan" and "inf" are numbers, so that they are refused and not taken for words.
    """
    try:
        float(text)
    except ValueError:
        return text[:1].isalpha()
    return False
