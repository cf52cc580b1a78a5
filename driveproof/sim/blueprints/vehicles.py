"""The vehicles of CARLA 0.9.16.

Boxes are those a simulator of that version reports (half sizes and centre, here right-handed). Wheelbase, mass
and steering angle are close to the real models; CARLA does not publish its own.
"""

from __future__ import annotations

from driveproof.sim.blueprints.model import (
    AttributeSpec,
    AttributeType,
    Blueprint,
    VehicleSpec,
    constant,
    flag,
    option,
)

# id | half x y z | centre x y z | wheelbase m | mass kg | type[/special] | generation | L(ights) D(oors)
_TABLE = """
audi.a2                   1.852685 0.894339 0.774525   0.000000 -0.000339 0.781807  2.41 1025 car 1 -
audi.etron                2.427854 1.016378 0.824680  -0.003599 -0.000001 0.820503  2.93 2490 car/electric 1 -
audi.tt                   2.090605 0.997059 0.692648  -0.000371  0.000000 0.692648  2.47 1365 car 1 -
bh.crossbike              0.754661 0.432970 0.806177   0.000000  0.000000 0.808221  1.05   90 bicycle 1 -
bmw.grandtourer           2.305503 1.120857 0.833638  -0.000001  0.000533 0.765104  2.78 1615 car 1 -
carlamotors.carlacola     2.601919 1.313495 1.233722   0.000000 -0.000002 1.233722  2.97 5500 truck 1 -
carlamotors.european_hgv  3.967855 1.445544 1.730972   0.012722 -0.005303 1.730615  4.80 14000 truck 2 -
carlamotors.firetruck     4.234021 1.445544 1.913706  -0.253443 -0.005302 1.913350  4.60 13500 truck/emergency 2 LD
chevrolet.impala          2.678740 1.016601 0.705329   0.000061 -0.001787 0.701492  2.95 1650 car 1 -
citroen.c3                1.993842 0.925424 0.808555   0.000002 -0.002367 0.761917  2.54 1270 car 1 -
diamondback.century       0.828122 0.291219 0.809883   0.000000  0.000000 0.815745  1.03   85 bicycle 1 -
dodge.charger_2020        2.503913 0.940811 0.767362  -0.005347 -0.000002 0.765578  3.05 1850 car 2 LD
dodge.charger_police      2.487122 1.019201 0.771059   0.023638 -0.000600 0.792671  3.05 1920 car/emergency 1 -
dodge.charger_police_2020 2.618757 0.964880 0.819192   0.109500  0.000005 0.817407  3.05 1920 car/emergency 2 LD
ford.ambulance            3.182822 1.175587 1.215688  -0.288561 -0.001945 1.215609  4.01 4500 van/emergency 2 LD
ford.crown                2.682839 0.900362 0.787483   0.185408  0.000002 0.768447  2.91 1900 car/taxi 2 LD
ford.mustang              2.358763 0.947413 0.650470   0.032143 -0.000001 0.650470  2.74 1550 car 1 -
gazelle.omafiets          0.921721 0.329521 0.887914  -0.010000  0.000000 0.894649  1.12   95 bicycle 1 -
harley-davidson.low_rider 1.175088 0.383117 0.824747   0.000000  0.000000 0.824649  1.63  390 motorcycle 1 -
jeep.wrangler_rubicon     1.933110 0.952598 0.938968   0.000216 -0.001030 0.932276  2.42 1850 car 1 -
kawasaki.ninja            1.021842 0.398456 0.761596   0.000000  0.000000 0.768861  1.41  270 motorcycle 1 -
lincoln.mkz_2017          2.450842 1.064162 0.755373   0.004043 -0.000004 0.718860  2.85 1700 car 1 -
lincoln.mkz_2020          2.446191 0.918357 0.745139  -0.006293 -0.000002 0.748845  2.85 1750 car 2 LD
mercedes.coupe            2.513388 1.075773 0.825326  -0.000001  0.000776 0.666794  2.95 1850 car 1 -
mercedes.coupe_2020       2.336819 0.905906 0.720974  -0.002594  0.000000 0.720362  2.84 1735 car 2 LD
mercedes.sprinter         2.957595 0.994216 1.280328  -0.010542 -0.004134 1.288242  3.66 2600 van 2 LD
micro.microlino           1.103648 0.740460 0.688012   0.000000  0.000060 0.677155  1.57  530 car/electric 1 -
mini.cooper_s             1.902900 0.985138 0.737515   0.000000  0.000059 0.693010  2.47 1190 car 1 -
mini.cooper_s_2021        2.276350 1.048536 0.883583  -0.031250  0.000001 0.891035  2.67 1450 car 2 LD
mitsubishi.fusorosa       5.136343 1.972076 2.126424  -0.445224  0.120885 2.127350  4.55 6500 bus 2 L
nissan.micra              1.816688 0.922557 0.750641   0.000000 -0.000967 0.781246  2.43  950 car 1 -
nissan.patrol             2.302255 0.965796 0.927423  -0.057376 -0.000161 0.935124  2.85 2300 car 1 -
nissan.patrol_2021        2.782914 1.074983 1.022574   0.028384  0.000001 1.016716  3.08 2750 car 2 LD
seat.leon                 2.096415 0.908093 0.736916  -0.000150  0.001557 0.739633  2.58 1320 car 1 -
tesla.cybertruck          3.136777 1.194787 1.049096   0.000001  0.000000 1.049096  3.63 3000 truck/electric 2 -
tesla.model3              2.395890 1.081725 0.743830   0.029220  0.000004 0.735860  2.88 1845 car/electric 1 -
toyota.prius              2.256761 1.003407 0.762417   0.001984  0.000385 0.724169  2.70 1380 car/electric 1 -
vespa.zx125               0.908553 0.432970 0.795045   0.010000  0.000000 0.794649  1.29  190 motorcycle 1 -
volkswagen.t2             2.240218 1.034658 1.018896   0.001330  0.000536 1.014472  2.40 1400 van 1 -
volkswagen.t2_2021        2.221092 0.887283 0.993603   0.116670  0.000353 0.991243  2.40 1400 van 2 LD
yamaha.yzf                1.095384 0.432959 0.765191   0.000000  0.000000 0.774649  1.38  275 motorcycle 1 -
"""

#: By base type: wheel radius (m), largest steering angle (degrees), largest speed (m/s).
_CLASSES = {
    "car": (0.35, 70.0, 55.0),
    "van": (0.36, 70.0, 42.0),
    "truck": (0.50, 60.0, 33.0),
    "bus": (0.48, 60.0, 33.0),
    "motorcycle": (0.31, 60.0, 50.0),
    "bicycle": (0.34, 60.0, 12.0),
}

#: Paints, light and dark ones in turn.
_PAINTS = (
    ("255,255,255", "0,0,0", "163,163,163", "137,0,0", "0,12,137", "79,33,85"),
    ("243,243,243", "17,37,103", "180,44,44", "97,97,97", "30,30,30", "112,105,18"),
    ("38,63,102", "211,142,0", "168,0,27", "227,227,227", "66,66,66", "0,93,56"),
)

#: Liveries that come in one colour only.
_LIVERY = {
    "carlamotors.carlacola": "255,68,0",
    "carlamotors.firetruck": "255,0,0",
    "ford.ambulance": "255,255,255",
    "ford.crown": "183,187,162",
    "dodge.charger_police": "10,10,10",
    "dodge.charger_police_2020": "10,10,10",
    "mitsubishi.fusorosa": "193,193,193",
}

_DRIVERS = tuple(str(number) for number in (*range(1, 9), *range(15, 30)))


def vehicles() -> list[Blueprint]:
    """All vehicle blueprints."""
    rows = [line.split() for line in _TABLE.strip().splitlines()]
    return [_blueprint(number, row) for number, row in enumerate(rows)]


def _blueprint(number: int, row: list[str]) -> Blueprint:
    name, numbers, (kind, generation, features) = row[0], [float(x) for x in row[1:9]], row[9:]
    base, _, special = kind.partition("/")
    radius, steer, speed = _CLASSES[base]
    spec = VehicleSpec(
        half_extent=(numbers[0], numbers[1], numbers[2]),
        box_offset=(numbers[3], numbers[4], numbers[5]),
        wheelbase=numbers[6],
        wheel_radius=radius,
        mass=numbers[7],
        max_steer_deg=steer,
        max_speed=speed,
        base_type=base,
        special_type=special,
        generation=int(generation),
        wheels=2 if base in ("motorcycle", "bicycle") else 4,
        has_lights="L" in features,
        has_doors="D" in features,
    )
    identity = f"vehicle.{name}"
    paints = (_LIVERY[name],) if name in _LIVERY else _PAINTS[number % len(_PAINTS)]
    return Blueprint(
        identity, tuple(identity.split(".")), _attributes(identity, spec, paints), spec
    )


def _attributes(
    identity: str, spec: VehicleSpec, paints: tuple[str, ...]
) -> tuple[AttributeSpec, ...]:
    """The attributes of a vehicle; riders can be chosen on two wheels."""
    rider = (
        (option("driver_id", AttributeType.INT, *_DRIVERS, restricted=True),)
        if spec.wheels == 2
        else ()
    )
    return (
        option("role_name", AttributeType.STRING, "autopilot", "scenario", "ego_vehicle"),
        option("ros_name", AttributeType.STRING, identity),
        option("color", AttributeType.COLOUR, *paints),
        *rider,
        option("sticky_control", AttributeType.BOOL, "true"),
        option("terramechanics", AttributeType.BOOL, "false"),
        constant("object_type", AttributeType.STRING, ""),
        constant("base_type", AttributeType.STRING, spec.base_type),
        constant("special_type", AttributeType.STRING, spec.special_type),
        constant("number_of_wheels", AttributeType.INT, str(spec.wheels)),
        constant("generation", AttributeType.INT, str(spec.generation)),
        constant("has_dynamic_doors", AttributeType.BOOL, flag(spec.has_doors)),
        constant("has_lights", AttributeType.BOOL, flag(spec.has_lights)),
    )
