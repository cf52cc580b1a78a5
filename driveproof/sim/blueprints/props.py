"""Props, triggers and utility actors of CARLA 0.9.16. Sizes are those a simulator of that version reports."""

from __future__ import annotations

from driveproof.sim.blueprints.model import (
    AttributeType,
    Blueprint,
    PropSpec,
    constant,
    option,
)

# name: length, width, height in metres ("bike helmet" is spelled with a blank in CARLA, here with "+")
_TABLE = """
advertisement 1.5492 0.2868 2.4428; atm 0.7132 0.8738 2.2758; barbeque 0.9456 0.4988 1.2641
barrel 0.4596 0.4714 0.8067; bench01 1.5441 0.7359 0.9698; bench02 1.5637 0.5446 0.5091
bench03 1.5835 0.5127 0.5127; bike+helmet 0.1855 0.2770 0.1713
bin 0.5482 0.6382 1.0591; box01 0.6522 0.6522 0.6916; box02 0.6486 0.6486 0.6486
box03 0.6609 0.6701 0.6486; briefcase 0.5434 0.1812 0.4329; brokentile01 0.1344 0.1760 0.0066
brokentile02 0.2097 0.1523 0.0076; brokentile03 0.1545 0.1449 0.0085; brokentile04 0.1297 0.1265 0.0102
busstop 3.8761 1.8936 2.7389; busstoplb 1.8936 3.8761 2.7389; calibrator 1.5476 0.6902 0.2020
chainbarrier 1.4942 0.2386 0.8887; chainbarrierend 0.2386 0.2386 0.8887; clothcontainer 1.2394 1.8865 1.8102
clothesline 6.6523 1.1180 2.0610; coconutpalm 8.6038 8.8858 20.3148; colacan 0.0682 0.0717 0.1095
constructioncone 0.3441 0.3441 0.5858; container 1.9318 1.0124 1.7142; creasedbox01 0.8088 0.7129 0.1178
creasedbox02 1.6332 0.7129 0.2116; creasedbox03 1.6687 0.7129 0.0217; cypresstree 4.6099 4.6282 15.6788
dirtdebris01 1.8574 1.5139 0.1490; dirtdebris02 1.8574 1.5139 0.1490; dirtdebris03 1.8574 1.5139 0.1884
doghouse 1.0791 1.2721 1.0937; foodcart 2.2847 4.6384 3.5731; fountain 8.4018 8.4018 6.9244
garbage01 0.0534 0.0534 0.0868; garbage02 0.0534 0.0534 0.0092; garbage03 0.0597 0.0594 0.0793
garbage04 0.0573 0.0557 0.0688; garbage05 0.2319 0.2325 0.0576; garbage06 0.3662 0.2133 0.0768
gardenlamp 0.2972 0.2812 0.6478; glasscontainer 1.9548 2.0088 1.7884; gnome 0.3666 0.3756 0.8830
guitarcase 1.2424 0.1252 0.4945; haybale 1.2477 1.1933 1.1950; haybalelb 1.2477 1.1933 1.1950
ironplank 1.4519 1.1744 0.0205; kiosk_01 1.6252 1.6541 3.2454; mailbox 0.5266 0.4384 1.1573
maptable 1.5732 0.6171 1.1811; mobile 0.0805 0.0073 0.1664; motorhelmet 0.2004 0.2593 0.2581
pergola 5.0294 5.0850 3.5416; plantpot01 1.0891 0.4758 0.5573; plantpot02 1.0512 0.4307 0.4870
plantpot03 1.0512 0.4307 0.4870; plantpot04 4.9673 0.7366 0.1248; plantpot05 0.4002 0.4002 0.2800
plantpot06 1.5933 1.5933 0.8495; plantpot07 0.4946 0.4758 0.5573; plantpot08 0.5304 0.5304 0.4889
plasticbag 0.3110 0.4026 0.5523; plasticchair 0.7305 0.7504 1.2713; plastictable 2.4822 2.4822 2.4798
platformgarbage01 3.6332 1.7114 0.3316; purse 0.1592 0.3327 0.5852; shoppingbag 0.4745 0.2433 0.6006
shoppingcart 0.6694 1.2075 1.0793; shoppingtrolley 0.5056 0.3311 1.0937; slide 0.9425 4.1225 1.9766
streetbarrier 1.2149 0.3717 1.0691; streetfountain 0.2869 0.6703 1.2594; streetsign 1.0643 0.1252 2.1544
streetsign01 2.4704 0.3029 3.8780; streetsign04 1.1708 0.1248 2.7729; swing 4.1052 1.5768 2.5725
swingcouch 1.3574 2.3624 2.2494; table 2.1563 2.1518 0.8465; trafficcone01 0.8828 0.8822 1.1333
trafficcone02 0.4556 0.3946 1.1829; trafficwarning 2.3734 2.8706 3.5695; trampoline 4.1316 4.1316 2.8019
trashbag 0.3780 0.4296 0.7021; trashcan01 0.6353 0.5679 0.8482; trashcan02 0.5238 0.5136 1.0455
trashcan03 0.6293 0.5453 0.9336; trashcan04 0.7887 0.5804 1.0163; trashcan05 0.7887 0.5804 1.0163
travelcase 0.5673 0.3276 1.2626; vendingmachine 0.8729 1.1020 2.1082; warningaccident 1.3050 1.0551 1.8602
warningconstruction 1.3050 1.0551 1.8602; wateringcan 0.0704 0.1940 0.1348
"""

#: What no person moves by hand, though it is small.
_HEAVY = {"ironplank", "atm", "mailbox", "vendingmachine", "streetfountain", "kiosk_01"}

#: CARLA's words for the largest side in metres up to which they hold.
_SIZES = ((0.3, "tiny"), (1.0, "small"), (2.0, "medium"), (4.0, "big"), (float("inf"), "huge"))


def props() -> list[Blueprint]:
    """All ``static.prop.*`` blueprints, the free mesh, the friction trigger and the empty actor."""
    found = []
    for entry in _TABLE.replace("\n", ";").split(";"):
        if entry.strip():
            name, *numbers = entry.split()
            length, width, height = (float(number) for number in numbers)
            found.append(_prop(name.replace("+", " "), length, width, height))
    return [*found, _mesh(), _friction(), _empty()]


def _prop(name: str, length: float, width: float, height: float) -> Blueprint:
    identity, longest = f"static.prop.{name}", max(length, width, height)
    word = next(word for limit, word in _SIZES if longest < limit)
    attributes = (
        option("role_name", AttributeType.STRING, "prop"),
        option("ros_name", AttributeType.STRING, identity),
        constant("size", AttributeType.STRING, word),
    )
    spec = PropSpec((length / 2, width / 2, height / 2), longest < 1.3 and name not in _HEAVY)
    return Blueprint(identity, ("static", "prop", name), attributes, spec)


def _mesh() -> Blueprint:
    """A prop of any mesh; without meshes here it is a box of a parked car, its usual use."""
    attributes = (
        option("role_name", AttributeType.STRING, "default"),
        option("ros_name", AttributeType.STRING, "static.prop.mesh"),
        option("mesh_path", AttributeType.STRING, ""),
        option("mass", AttributeType.FLOAT, "0.0"),
        option("scale", AttributeType.FLOAT, "1.0"),
    )
    spec = PropSpec((2.4, 0.95, 0.75))
    return Blueprint("static.prop.mesh", ("static", "prop", "mesh"), attributes, spec)


def _friction() -> Blueprint:
    """A box in which tyres have another friction; the extents are half sizes in centimetres."""
    attributes = (
        option("role_name", AttributeType.STRING, "default"),
        option("ros_name", AttributeType.STRING, "static.trigger.friction"),
        option("friction", AttributeType.FLOAT, "3.5"),
        *(option(f"extent_{axis}", AttributeType.FLOAT, "1.0") for axis in "xyz"),
    )
    return Blueprint("static.trigger.friction", ("static", "trigger", "friction"), attributes)


def _empty() -> Blueprint:
    attributes = (
        option("role_name", AttributeType.STRING, "default"),
        option("ros_name", AttributeType.STRING, "util.actor.empty"),
    )
    return Blueprint("util.actor.empty", ("util", "actor", "empty"), attributes)
