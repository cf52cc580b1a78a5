"""Words for things: kinds, colours, positions, and how close two of them are."""

from __future__ import annotations

from driveproof.questions.objects import Colour, ObjectKind, Sector
from driveproof.questions.wording.vocabulary import Vocabulary

_K = ObjectKind

KIND = Vocabulary.of(
    [
        (_K.CAR, "car", r"cars", r"vehicles?", r"sedan", r"automobile", r"coupe", r"hatchback"),
        (_K.SMALL_CAR, "small car", r"mini ?car", r"micro ?car", r"compact car"),
        (_K.SUV, "SUV", r"SUVs"),
        (_K.JEEP, "jeep", r"jeeps"),
        (_K.VAN, "van", r"vans", r"minivan", r"transporter"),
        (_K.SPRINTER, "sprinter", r"sprinter van"),
        (_K.TRUCK, "truck", r"trucks", r"lorry", r"pickup(?: truck)?"),
        (_K.HGV, "heavy goods vehicle", r"HGV", r"semi truck", r"tractor trailer"),
        (_K.BUS, "bus", r"buses", r"minibus", r"coach"),
        (_K.MOTORCYCLE, "motorcycle", r"motorcycles", r"motorbikes?", r"scooter", r"motorcyclist"),
        (_K.BICYCLE, "bicycle", r"bicycles", r"bikes?", r"cyclists?"),
        (_K.POLICE, "police car", r"police (?:vehicle|cruiser)", r"police"),
        (_K.AMBULANCE, "ambulance"),
        (_K.FIRETRUCK, "firetruck", r"fire truck", r"fire engine"),
        (
            _K.PEDESTRIAN,
            "pedestrian",
            r"pedestrians",
            r"walkers?",
            r"person",
            r"people",
            r"man",
            r"woman",
            r"child(?:ren)?",
        ),
        (
            _K.TRAFFIC_LIGHT,
            "traffic light",
            r"traffic lights",
            r"traffic signals?",
            r"stop ?light",
            r"(?<!brake\s)(?<!fog\s)lights?(?! (?:blue|green|gr[ae]y|red|rain|traffic))",
        ),
        (_K.STOP_SIGN, "stop sign", r"stop signs"),
        (_K.YIELD_SIGN, "yield sign", r"yield signs", r"give way signs?"),
        (_K.SPEED_LIMIT_SIGN, "speed limit sign", r"speed limit signs", r"speed signs?"),
        (
            _K.CONSTRUCTION_WARNING,
            "construction warning",
            r"construction (?:warning )?signs?",
            r"road ?works? signs?",
        ),
        (
            _K.ACCIDENT_WARNING,
            "accident warning",
            r"accident (?:warning )?signs?",
            r"warning triangle",
        ),
        (
            _K.TRAFFIC_WARNING,
            "traffic warning",
            r"(?:traffic )?warning (?:signs?|device)",
            r"warning",
        ),
        (_K.CONSTRUCTION_CONE, "construction cone", r"(?:traffic |construction )?cones?"),
        (_K.DEBRIS, "debris", r"rubble", r"dirt"),
        (_K.OBSTACLE, "obstacle", r"obstacles", r"barriers?", r"obstruction"),
        (_K.JUNCTION, "junction", r"junctions", r"intersections?", r"crossroads?"),
    ]
)

COLOUR = Vocabulary.of(
    [
        (Colour.MAROON, "maroon", r"dark red", r"burgundy"),
        (Colour.RED, "red"),
        (Colour.ORANGE, "orange"),
        (Colour.YELLOW, "yellow"),
        (Colour.OLIVE, "olive", r"khaki"),
        (Colour.PURPLE, "purple", r"violet"),
        (Colour.FUCHSIA, "fuchsia", r"magenta", r"pink"),
        (Colour.WHITE, "white"),
        (Colour.LIME, "lime", r"light green", r"bright green"),
        (Colour.GREEN, "green", r"dark green"),
        (Colour.NAVY, "navy", r"navy blue", r"dark blue"),
        (Colour.BLUE, "blue"),
        (Colour.AQUA, "aqua", r"cyan", r"turquoise", r"light blue"),
        (Colour.TEAL, "teal"),
        (Colour.BLACK, "black", r"dark"),
        (Colour.SILVER, "silver"),
        (Colour.GRAY, "gray", r"grey", r"dark gr[ae]y"),
    ]
)

SECTOR = Vocabulary.of(
    [
        (
            Sector.FRONT,
            "to the front",
            r"in front(?: of (?:the )?ego(?: vehicle)?)?",
            r"ahead",
            r"front",
        ),
        (
            Sector.FRONT_LEFT,
            "to the front left",
            r"(?:front|ahead)(?: to the)?(?: and)? left",
            r"left front",
            r"left ahead",
            r"ahead on the left",
        ),
        (Sector.LEFT, "to the left", r"on the left", r"left side"),
        (
            Sector.REAR_LEFT,
            "to the rear left",
            r"(?:rear|back|behind)(?: to the)? left",
            r"left (?:rear|back)",
            r"behind on the left",
        ),
        (
            Sector.REAR,
            "to the rear",
            r"behind(?: (?:the )?ego(?: vehicle)?)?",
            r"at the back",
            r"rear",
        ),
        (
            Sector.REAR_RIGHT,
            "to the rear right",
            r"(?:rear|back|behind)(?: to the)? right",
            r"right (?:rear|back)",
            r"behind on the right",
        ),
        (Sector.RIGHT, "to the right", r"on the right", r"right side"),
        (
            Sector.FRONT_RIGHT,
            "to the front right",
            r"(?:front|ahead)(?: to the)?(?: and)? right",
            r"right front",
            r"right ahead",
            r"ahead on the right",
        ),
    ]
)

SIMILAR_COLOURS: tuple[frozenset[Colour], ...] = (
    frozenset({Colour.SILVER, Colour.WHITE}),
    frozenset({Colour.SILVER, Colour.GRAY}),
    frozenset({Colour.MAROON, Colour.RED}),
    frozenset({Colour.OLIVE, Colour.YELLOW}),
    frozenset({Colour.OLIVE, Colour.ORANGE}),
    frozenset({Colour.YELLOW, Colour.ORANGE}),
    frozenset({Colour.NAVY, Colour.BLUE}),
    frozenset({Colour.NAVY, Colour.BLACK}),
    frozenset({Colour.TEAL, Colour.GREEN}),
    frozenset({Colour.TEAL, Colour.AQUA}),
    frozenset({Colour.LIME, Colour.GREEN}),
    frozenset({Colour.AQUA, Colour.BLUE}),
    frozenset({Colour.PURPLE, Colour.FUCHSIA}),
)
"""Pairs of colours that count as one: people and cameras do not tell them apart (the first six pairs and navy-blue
are the tolerances of Bench2Drive-VL's evaluator)."""

_FAMILIES: tuple[frozenset[ObjectKind], ...] = (
    frozenset({_K.CAR, _K.SMALL_CAR, _K.SUV, _K.JEEP, _K.POLICE}),
    frozenset({_K.VAN, _K.SPRINTER, _K.AMBULANCE, _K.SUV, _K.BUS}),
    frozenset({_K.TRUCK, _K.HGV, _K.FIRETRUCK, _K.VAN, _K.SPRINTER}),
    frozenset({_K.TRAFFIC_WARNING, _K.CONSTRUCTION_WARNING, _K.ACCIDENT_WARNING}),
    frozenset({_K.OBSTACLE, _K.DEBRIS}),
)
_ANY_VEHICLE = frozenset(
    {_K.CAR, _K.SMALL_CAR, _K.SUV, _K.JEEP, _K.VAN, _K.SPRINTER, _K.TRUCK, _K.HGV, _K.BUS}
    | {_K.POLICE, _K.AMBULANCE, _K.FIRETRUCK}
)


def same_colour(a: Colour | None, b: Colour | None) -> bool:
    """Whether two colours count as one; a colour that is not said agrees with every other."""
    return a is None or b is None or a is b or any({a, b} <= pair for pair in SIMILAR_COLOURS)


def same_kind(said: ObjectKind, true: ObjectKind) -> bool:
    """Whether ``said`` may mean ``true``: "car" (and "vehicle") may be any of four wheels."""
    if said is true or (said is _K.CAR and true in _ANY_VEHICLE):
        return True
    return any({said, true} <= family for family in _FAMILIES)
