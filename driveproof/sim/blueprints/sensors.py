"""The sensors of CARLA 0.9.16 with every attribute and its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from driveproof.sim.blueprints.model import AttributeSpec, AttributeType, Blueprint, option

_ROLES = (
    "front",
    "back",
    "left",
    "right",
    "front_left",
    "front_right",
    "back_left",
    "back_right",
)


def _typed(table: str) -> tuple[AttributeSpec, ...]:
    """Attributes from "name=default": whole numbers are ints, with a point floats, true and false bools."""
    found = []
    for entry in table.split():
        name, _, value = entry.partition("=")
        if value.lower() in ("true", "false"):
            kind = AttributeType.BOOL
        elif value.lstrip("-").isdigit():
            kind = AttributeType.INT
        elif value.lstrip("-").replace(".", "", 1).isdigit():
            kind = AttributeType.FLOAT
        else:
            kind = AttributeType.STRING
        found.append(option(name, kind, value))
    return tuple(found)


def _zeros(names: Iterable[str]) -> tuple[AttributeSpec, ...]:
    return tuple(option(name, AttributeType.FLOAT, "0.0") for name in names)


_TICK = _typed("sensor_tick=0.0")

_CAMERA = _TICK + _typed(
    """image_size_x=800 image_size_y=600 fov=90.0 lens_circle_falloff=5.0 lens_circle_multiplier=0.0
    lens_k=-1.0 lens_kcube=0.0 lens_x_size=0.08 lens_y_size=0.08"""
)

_PHOTO = (
    *_typed("enable_postprocess_effects=true"),
    option("exposure_mode", AttributeType.STRING, "histogram", "manual", restricted=True),
    *_typed(
        """gamma=2.2 exposure_compensation=0.0 shutter_speed=200.0 iso=100.0 fstop=1.4
        exposure_min_bright=10.0 exposure_max_bright=12.0 exposure_speed_up=3.0 exposure_speed_down=1.0
        calibration_constant=16.0 motion_blur_intensity=0.45 motion_blur_max_distortion=0.35
        motion_blur_min_object_screen_size=0.1 lens_flare_intensity=0.1 bloom_intensity=0.675
        focal_distance=1000.0 min_fstop=1.2 blade_count=5 blur_amount=1.0 blur_radius=0.0 slope=0.88
        toe=0.55 shoulder=0.26 black_clip=0.0 white_clip=0.04 temp=6500.0 tint=0.0
        chromatic_aberration_intensity=0.0 chromatic_aberration_offset=0.0"""
    ),
)

_EVENTS = _typed(
    """positive_threshold=0.3 negative_threshold=0.3 sigma_positive_threshold=0.0
    sigma_negative_threshold=0.0 refractory_period_ns=0 use_log=true log_eps=0.001"""
)

_SCAN = _TICK + _typed(
    """channels=32 range=10.0 points_per_second=56000 rotation_frequency=10.0 upper_fov=10.0
    lower_fov=-30.0 horizontal_fov=360.0"""
)

_DROPS = _typed(
    """atmosphere_attenuation_rate=0.004 dropoff_general_rate=0.45 dropoff_intensity_limit=0.8
    dropoff_zero_intensity=0.4 noise_stddev=0.0 noise_seed=0"""
)

_RADIO = (
    *_TICK,
    *_typed(
        """channel_id=default noise_seed=0 transmit_power=21.5 receiver_sensitivity=-99.0
        frequency_ghz=5.9 combined_antenna_gain=10.0 path_loss_exponent=2.7 d_ref=1.0
        filter_distance=500.0 use_etsi_fading=true custom_fading_stddev=0.0"""
    ),
    option("scenario", AttributeType.STRING, "highway", "rural", "urban", restricted=True),
    option("path_loss_model", AttributeType.STRING, "winner", "geometric", restricted=True),
)

_FIX_NOISE = [
    f"noise_{axis}_{kind}" for axis in ("lat", "lon", "alt") for kind in ("stddev", "bias")
]

_CAM_NOISE = (
    *_FIX_NOISE,
    "noise_head_stddev",
    "noise_head_bias",
    "noise_accel_stddev_x",
    "noise_accel_stddev_y",
    "noise_accel_stddev_z",
    "noise_yawrate_stddev",
    "noise_yawrate_bias",
    "noise_vel_stddev_x",
)

_IMU_NOISE = [
    f"noise_{name}_{axis}"
    for name in ("accel_stddev", "gyro_stddev", "gyro_bias")
    for axis in "xyz"
]

_SENSORS: Mapping[str, tuple[AttributeSpec, ...]] = {
    "camera.rgb": _CAMERA + _PHOTO,
    "camera.depth": _CAMERA,
    "camera.normals": _CAMERA,
    "camera.optical_flow": _CAMERA,
    "camera.semantic_segmentation": _CAMERA,
    "camera.instance_segmentation": _CAMERA,
    "camera.cosmos_visualization": _CAMERA,
    "camera.dvs": _CAMERA + _PHOTO + _EVENTS,
    "lidar.ray_cast": _SCAN + _DROPS,
    "lidar.ray_cast_semantic": _SCAN,
    "other.collision": (),
    "other.lane_invasion": (),
    "other.rss": (),
    "other.gnss": _TICK + _typed("noise_seed=0") + _zeros(_FIX_NOISE),
    "other.imu": _TICK + _typed("noise_seed=0") + _zeros(_IMU_NOISE),
    "other.obstacle": _TICK
    + _typed("distance=5.0 hit_radius=0.5 only_dynamics=false debug_linetrace=false"),
    "other.radar": _TICK
    + _typed(
        "horizontal_fov=30.0 vertical_fov=30.0 range=100.0 points_per_second=1500 noise_seed=0"
    ),
    "other.v2x": _RADIO
    + _typed("gen_cam_min=0.1 gen_cam_max=1.0 fixed_rate=false")
    + _zeros(_CAM_NOISE),
    "other.v2x_custom": _RADIO,
}


def sensors() -> list[Blueprint]:
    """All sensor blueprints."""
    found = []
    for name, attributes in _SENSORS.items():
        identity = f"sensor.{name}"
        own = (
            option("role_name", AttributeType.STRING, *_ROLES),
            option("ros_name", AttributeType.STRING, identity),
        )
        found.append(Blueprint(identity, tuple(identity.split(".")), own + attributes))
    return found
