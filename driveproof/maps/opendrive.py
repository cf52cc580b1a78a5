"""OpenDRIVE text to typed roads. Reads what driving needs (ASAM OpenDRIVE 1.4 to 1.7) and checks it.

The file's frame is right-handed (x east, y north), which is the frame of this library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
import numpy as np
from defusedxml.common import DefusedXmlException

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps.lanes import LaneKind, MarkColour, MarkKind
from driveproof.maps.reference_line import Piece

_LANE_KINDS = {kind.name.lower(): kind for kind in LaneKind}
_MARKS = {kind.name.lower().replace("_", " "): kind for kind in MarkKind} | {
    "botts dots": MarkKind.BOTTS_DOTS
}
_COLOURS = {colour.name.lower(): colour for colour in MarkColour}
_SPEED_UNITS = {"km/h": 1.0 / 3.6, "mph": 0.44704, "m/s": 1.0, "": 1.0}


@dataclass(frozen=True)
class LaneSpec:
    """One ``<lane>``: widths ``[k, 5]`` (s offset, a, b, c, d), marks ``[m, 3]`` (s offset, kind, colour)."""

    key: int
    kind: LaneKind
    widths: Float
    marks: Float
    predecessors: tuple[int, ...]
    successors: tuple[int, ...]
    speed_limit: float


@dataclass(frozen=True)
class SectionSpec:
    """One ``<laneSection>`` from ``start`` to ``end`` metres along its road; ``lanes`` includes lane 0."""

    start: float
    end: float
    lanes: dict[int, LaneSpec]


@dataclass(frozen=True)
class RoadLink:
    """The road end that a road continues at."""

    road: int
    at_end: bool


@dataclass(frozen=True)
class SignalSpec:
    """A ``<signal>``, ``<signalReference>`` or an ``<object>`` that means one, at (s, t) of its road."""

    key: str
    s: float
    t: float
    kind: str
    lanes: tuple[int, int]
    value: float = math.nan
    height: float = 0.0
    reference: bool = False


@dataclass(frozen=True)
class OutlineSpec:
    """The outline of a crosswalk: corners ``[n, 3]`` (u, v, z) in a frame at (s, t, heading) of its road."""

    s: float
    t: float
    heading: float
    height: float
    corners: Float


@dataclass(frozen=True)
class RoadSpec:
    """One ``<road>``."""

    key: int
    length: float
    junction: int
    left_hand: bool
    pieces: list[Piece]
    elevation: Float
    lane_offset: Float
    sections: list[SectionSpec]
    predecessor: RoadLink | None
    successor: RoadLink | None
    speeds: list[tuple[float, float]] = field(default_factory=list)
    signals: list[SignalSpec] = field(default_factory=list)
    crosswalks: list[OutlineSpec] = field(default_factory=list)


@dataclass(frozen=True)
class Connection:
    """One ``<connection>`` of a junction."""

    incoming: int
    connecting: int
    at_end: bool
    lanes: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class OpenDrive:
    """A whole file; ``controllers`` maps a signal id to (controller id, sequence)."""

    roads: dict[int, RoadSpec]
    connections: list[Connection]
    controllers: dict[str, tuple[str, int]]


def parse_opendrive(text: str, name: str = "OpenDRIVE") -> OpenDrive:
    """Read OpenDRIVE text.

    Raises
    ------
    BadInput
        Truncated or hostile XML, another root, missing or non-finite numbers, no roads.
    """
    try:
        root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise BadInput(
            "the XML declares entities or a DTD, which no town needs", path=name
        ) from error
    except (ParseError, ValueError) as error:
        raise BadInput(f"not well-formed XML: {error}", path=name) from error
    if root.tag != "OpenDRIVE":
        raise BadInput(f"the root is <{root.tag[:40]}>, not <OpenDRIVE>", path=name)
    try:
        roads = [_road(element) for element in root.iterfind("road")]
        connections = [_connection(element) for element in root.iterfind("junction/connection")]
        controllers = {
            control.get("signalId", ""): (element.get("id", ""), integer(element, "sequence", 0))
            for element in root.iterfind("controller")
            for control in element.iterfind("control")
        }
    except BadInput as error:
        raise BadInput(error.problem, path=name, field=error.field) from error
    if not roads:
        raise BadInput("no roads", path=name)
    return OpenDrive({road.key: road for road in roads}, connections, controllers)


def number(element: Element, attribute: str, default: float | None = None) -> float:
    """A finite number; BadInput names the tag and attribute."""
    text = element.get(attribute)
    if text is None and default is not None:
        return default
    try:
        value = float(text)  # type: ignore[arg-type]  # None is one of the errors caught here
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(f"{text!r} is not a finite number", field=f"<{element.tag} {attribute}>")
    return value


def integer(element: Element, attribute: str, default: int | None = None) -> int:
    """A whole number; BadInput names the tag and attribute."""
    value = number(element, attribute, default)
    if value != int(value) or abs(value) >= 2**31:
        raise BadInput(
            f"{value:.6g} is not a whole number of 32 bits", field=f"<{element.tag} {attribute}>"
        )
    return int(value)


def _cubic(parent: Element | None, tag: str, origin: str = "s") -> Float:
    elements = parent.findall(tag) if parent is not None else []
    rows = [[number(item, key) for key in (origin, "a", "b", "c", "d")] for item in elements]
    return np.array(sorted(rows) or [[0.0] * 5], dtype=np.float64)


def _road(element: Element) -> RoadSpec:
    key, length = integer(element, "id"), number(element, "length")
    pieces = [_piece(item) for item in element.iterfind("planView/geometry")]
    if not pieces:
        raise BadInput("a road without geometry", field=f"<road {key}>")
    lanes = element.find("lanes")
    sections = lanes.findall("laneSection") if lanes is not None else []
    starts = [number(item, "s") for item in sections]
    ends = [*starts, length][1:]
    return RoadSpec(
        key=key,
        length=length,
        junction=integer(element, "junction", -1),
        left_hand=element.get("rule") == "LHT",
        pieces=sorted(pieces, key=lambda piece: piece.s),
        elevation=_cubic(element.find("elevationProfile"), "elevation"),
        lane_offset=_cubic(lanes, "laneOffset"),
        sections=[_section(*item) for item in zip(sections, starts, ends, strict=True)],
        predecessor=_road_link(element.find("link/predecessor")),
        successor=_road_link(element.find("link/successor")),
        speeds=[
            (number(item, "s"), speed_of(item.find("speed"))) for item in element.iterfind("type")
        ],
        signals=_signals(element),
        crosswalks=[
            _outline(item)
            for item in element.iterfind("objects/object")
            if item.get("type") == "crosswalk" or item.get("name", "").endswith("Crosswalk")
        ],
    )


def _piece(element: Element) -> Piece:
    curvature, end_curvature = 0.0, 0.0
    cubic: tuple[float, ...] | None = None
    length = number(element, "length")
    for shape in element:
        if shape.tag == "arc":
            curvature = end_curvature = number(shape, "curvature")
        elif shape.tag == "spiral":
            curvature, end_curvature = number(shape, "curvStart"), number(shape, "curvEnd")
        elif shape.tag == "paramPoly3":
            scale = 1.0 if shape.get("pRange") == "arcLength" or length == 0 else 1.0 / length
            names = ("aU", "bU", "cU", "dU", "aV", "bV", "cV", "dV")
            powers = (0, 1, 2, 3) * 2
            cubic = tuple(number(shape, n) * scale**p for n, p in zip(names, powers, strict=True))
        elif shape.tag == "poly3":
            cubic = (0.0, 1.0, 0.0, 0.0, *(number(shape, n) for n in "abcd"))
    return Piece(
        s=number(element, "s"),
        x=number(element, "x"),
        y=number(element, "y"),
        heading=number(element, "hdg"),
        curvature=curvature,
        curvature_rate=(end_curvature - curvature) / length if length > 0 else 0.0,
        cubic=cubic,
    )


def _section(element: Element, start: float, end: float) -> SectionSpec:
    lanes = [
        _lane(item)
        for side in ("left", "center", "right")
        for item in element.iterfind(f"{side}/lane")
    ]
    return SectionSpec(start, end, {lane.key: lane for lane in lanes})


def _lane(element: Element) -> LaneSpec:
    marks: list[tuple[float, int, int]] = [
        (
            number(mark, "sOffset", 0.0),
            _MARKS.get(mark.get("type", "none"), MarkKind.OTHER),
            _COLOURS.get(mark.get("color", "standard"), MarkColour.OTHER),
        )
        for mark in element.iterfind("roadMark")
    ]
    return LaneSpec(
        key=integer(element, "id"),
        kind=_LANE_KINDS.get(element.get("type", "none"), LaneKind.OTHER),
        widths=_cubic(element, "width", "sOffset"),
        marks=np.array(sorted(marks) or [(0.0, 0, 0)], dtype=np.float64),
        predecessors=tuple(integer(item, "id") for item in element.iterfind("link/predecessor")),
        successors=tuple(integer(item, "id") for item in element.iterfind("link/successor")),
        speed_limit=speed_of(element.find("speed")),
    )


def speed_of(element: Element | None) -> float:
    """A ``<speed>`` in metres a second; NaN if there is none or it has no limit."""
    if element is None or element.get("max") in {"no limit", "undefined", None}:
        return math.nan
    unit = _SPEED_UNITS.get(element.get("unit", ""))
    if unit is None:
        raise BadInput(f"unknown unit {element.get('unit')!r}", field="<speed unit>")
    return number(element, "max") * unit


def _road_link(element: Element | None) -> RoadLink | None:
    if element is None or element.get("elementType") != "road":
        return None
    return RoadLink(integer(element, "elementId"), element.get("contactPoint") == "end")


def _connection(element: Element) -> Connection:
    return Connection(
        incoming=integer(element, "incomingRoad"),
        connecting=integer(element, "connectingRoad"),
        at_end=element.get("contactPoint") == "end",
        lanes=tuple(
            (integer(link, "from"), integer(link, "to")) for link in element.iterfind("laneLink")
        ),
    )


def _signals(road: Element) -> list[SignalSpec]:
    found = []
    for item in road.iterfind("signals/*"):
        found += [
            _signal(
                item, item.get("type", ""), lanes=lanes, reference=item.tag == "signalReference"
            )
            for lanes in _validities(item)
        ]
    for item in road.iterfind("objects/object"):
        # RoadRunner writes speed signs and painted STOPs as objects; CARLA reads them as signals too.
        name = item.get("name", "")
        if name.startswith("Speed_") and name[6:].isdigit():
            found.append(_signal(item, "274", value=float(name[6:]) / 3.6))
        elif name.startswith("Stencil_STOP"):
            found.append(_signal(item, "painted 206"))
    return found


def _validities(signal: Element) -> list[tuple[int, int]]:
    pairs = [
        (integer(item, "fromLane"), integer(item, "toLane")) for item in signal.iterfind("validity")
    ]
    return [(min(pair), max(pair)) for pair in pairs] or [(0, 0)]


def _signal(
    element: Element,
    kind: str,
    lanes: tuple[int, int] = (0, 0),
    value: float | None = None,
    reference: bool = False,
) -> SignalSpec:
    if value is None:
        unit = _SPEED_UNITS.get(element.get("unit", "km/h"), 1.0 / 3.6)
        value = number(element, "value", -1.0) * unit
    return SignalSpec(
        key=element.get("id", ""),
        s=number(element, "s"),
        t=number(element, "t"),
        kind=kind,
        lanes=lanes,
        value=value,
        height=number(element, "zOffset", 0.0),
        reference=reference,
    )


def _outline(element: Element) -> OutlineSpec:
    corners = [
        [number(corner, "u"), number(corner, "v"), number(corner, "z", 0.0)]
        for corner in element.iterfind("outline/cornerLocal")
    ]
    return OutlineSpec(
        s=number(element, "s"),
        t=number(element, "t"),
        heading=number(element, "hdg", 0.0),
        height=number(element, "zOffset", 0.0),
        corners=np.array(corners, dtype=np.float64).reshape(-1, 3),
    )
