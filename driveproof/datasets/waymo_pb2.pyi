# ruff: noqa
# fmt: off
# mypy: disable-error-code="type-arg"
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class E2EDFrame(_message.Message):
    __slots__ = ("frame", "future_states", "past_states", "intent")
    FRAME_FIELD_NUMBER: _ClassVar[int]
    FUTURE_STATES_FIELD_NUMBER: _ClassVar[int]
    PAST_STATES_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    frame: Frame
    future_states: EgoTrajectoryStates
    past_states: EgoTrajectoryStates
    intent: int
    def __init__(self, frame: _Optional[_Union[Frame, _Mapping]] = ..., future_states: _Optional[_Union[EgoTrajectoryStates, _Mapping]] = ..., past_states: _Optional[_Union[EgoTrajectoryStates, _Mapping]] = ..., intent: _Optional[int] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("context", "timestamp_micros", "images")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_MICROS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    context: Context
    timestamp_micros: int
    images: _containers.RepeatedCompositeFieldContainer[CameraImage]
    def __init__(self, context: _Optional[_Union[Context, _Mapping]] = ..., timestamp_micros: _Optional[int] = ..., images: _Optional[_Iterable[_Union[CameraImage, _Mapping]]] = ...) -> None: ...

class Context(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class CameraImage(_message.Message):
    __slots__ = ("name", "image")
    NAME_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    name: int
    image: bytes
    def __init__(self, name: _Optional[int] = ..., image: _Optional[bytes] = ...) -> None: ...

class EgoTrajectoryStates(_message.Message):
    __slots__ = ("pos_x", "pos_y", "vel_x", "vel_y", "accel_x", "accel_y")
    POS_X_FIELD_NUMBER: _ClassVar[int]
    POS_Y_FIELD_NUMBER: _ClassVar[int]
    VEL_X_FIELD_NUMBER: _ClassVar[int]
    VEL_Y_FIELD_NUMBER: _ClassVar[int]
    ACCEL_X_FIELD_NUMBER: _ClassVar[int]
    ACCEL_Y_FIELD_NUMBER: _ClassVar[int]
    pos_x: _containers.RepeatedScalarFieldContainer[float]
    pos_y: _containers.RepeatedScalarFieldContainer[float]
    vel_x: _containers.RepeatedScalarFieldContainer[float]
    vel_y: _containers.RepeatedScalarFieldContainer[float]
    accel_x: _containers.RepeatedScalarFieldContainer[float]
    accel_y: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, pos_x: _Optional[_Iterable[float]] = ..., pos_y: _Optional[_Iterable[float]] = ..., vel_x: _Optional[_Iterable[float]] = ..., vel_y: _Optional[_Iterable[float]] = ..., accel_x: _Optional[_Iterable[float]] = ..., accel_y: _Optional[_Iterable[float]] = ...) -> None: ...

class Scenario(_message.Message):
    __slots__ = ("timestamps_seconds", "tracks", "scenario_id", "sdc_track_index", "dynamic_map_states", "map_features")
    TIMESTAMPS_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TRACKS_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_ID_FIELD_NUMBER: _ClassVar[int]
    SDC_TRACK_INDEX_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_MAP_STATES_FIELD_NUMBER: _ClassVar[int]
    MAP_FEATURES_FIELD_NUMBER: _ClassVar[int]
    timestamps_seconds: _containers.RepeatedScalarFieldContainer[float]
    tracks: _containers.RepeatedCompositeFieldContainer[Track]
    scenario_id: str
    sdc_track_index: int
    dynamic_map_states: _containers.RepeatedCompositeFieldContainer[DynamicMapState]
    map_features: _containers.RepeatedCompositeFieldContainer[MapFeature]
    def __init__(self, timestamps_seconds: _Optional[_Iterable[float]] = ..., tracks: _Optional[_Iterable[_Union[Track, _Mapping]]] = ..., scenario_id: _Optional[str] = ..., sdc_track_index: _Optional[int] = ..., dynamic_map_states: _Optional[_Iterable[_Union[DynamicMapState, _Mapping]]] = ..., map_features: _Optional[_Iterable[_Union[MapFeature, _Mapping]]] = ...) -> None: ...

class Track(_message.Message):
    __slots__ = ("id", "object_type", "states")
    ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    id: int
    object_type: int
    states: _containers.RepeatedCompositeFieldContainer[ObjectState]
    def __init__(self, id: _Optional[int] = ..., object_type: _Optional[int] = ..., states: _Optional[_Iterable[_Union[ObjectState, _Mapping]]] = ...) -> None: ...

class ObjectState(_message.Message):
    __slots__ = ("center_x", "center_y", "length", "width", "height", "heading", "velocity_x", "velocity_y", "valid")
    CENTER_X_FIELD_NUMBER: _ClassVar[int]
    CENTER_Y_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_X_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_Y_FIELD_NUMBER: _ClassVar[int]
    VALID_FIELD_NUMBER: _ClassVar[int]
    center_x: float
    center_y: float
    length: float
    width: float
    height: float
    heading: float
    velocity_x: float
    velocity_y: float
    valid: bool
    def __init__(self, center_x: _Optional[float] = ..., center_y: _Optional[float] = ..., length: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ..., heading: _Optional[float] = ..., velocity_x: _Optional[float] = ..., velocity_y: _Optional[float] = ..., valid: _Optional[bool] = ...) -> None: ...

class DynamicMapState(_message.Message):
    __slots__ = ("lane_states",)
    LANE_STATES_FIELD_NUMBER: _ClassVar[int]
    lane_states: _containers.RepeatedCompositeFieldContainer[TrafficSignalLaneState]
    def __init__(self, lane_states: _Optional[_Iterable[_Union[TrafficSignalLaneState, _Mapping]]] = ...) -> None: ...

class TrafficSignalLaneState(_message.Message):
    __slots__ = ("lane", "state", "stop_point")
    LANE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STOP_POINT_FIELD_NUMBER: _ClassVar[int]
    lane: int
    state: int
    stop_point: MapPoint
    def __init__(self, lane: _Optional[int] = ..., state: _Optional[int] = ..., stop_point: _Optional[_Union[MapPoint, _Mapping]] = ...) -> None: ...

class MapPoint(_message.Message):
    __slots__ = ("x", "y")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: float
    y: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ...) -> None: ...

class MapFeature(_message.Message):
    __slots__ = ("id", "lane", "road_line", "road_edge", "crosswalk", "driveway")
    ID_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    ROAD_LINE_FIELD_NUMBER: _ClassVar[int]
    ROAD_EDGE_FIELD_NUMBER: _ClassVar[int]
    CROSSWALK_FIELD_NUMBER: _ClassVar[int]
    DRIVEWAY_FIELD_NUMBER: _ClassVar[int]
    id: int
    lane: LaneCenter
    road_line: Line
    road_edge: Line
    crosswalk: Area
    driveway: Area
    def __init__(self, id: _Optional[int] = ..., lane: _Optional[_Union[LaneCenter, _Mapping]] = ..., road_line: _Optional[_Union[Line, _Mapping]] = ..., road_edge: _Optional[_Union[Line, _Mapping]] = ..., crosswalk: _Optional[_Union[Area, _Mapping]] = ..., driveway: _Optional[_Union[Area, _Mapping]] = ...) -> None: ...

class LaneCenter(_message.Message):
    __slots__ = ("speed_limit_mph", "type", "interpolating", "polyline", "exit_lanes", "left_boundaries", "right_boundaries")
    SPEED_LIMIT_MPH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATING_FIELD_NUMBER: _ClassVar[int]
    POLYLINE_FIELD_NUMBER: _ClassVar[int]
    EXIT_LANES_FIELD_NUMBER: _ClassVar[int]
    LEFT_BOUNDARIES_FIELD_NUMBER: _ClassVar[int]
    RIGHT_BOUNDARIES_FIELD_NUMBER: _ClassVar[int]
    speed_limit_mph: float
    type: int
    interpolating: bool
    polyline: _containers.RepeatedCompositeFieldContainer[MapPoint]
    exit_lanes: _containers.RepeatedScalarFieldContainer[int]
    left_boundaries: _containers.RepeatedCompositeFieldContainer[BoundarySegment]
    right_boundaries: _containers.RepeatedCompositeFieldContainer[BoundarySegment]
    def __init__(self, speed_limit_mph: _Optional[float] = ..., type: _Optional[int] = ..., interpolating: _Optional[bool] = ..., polyline: _Optional[_Iterable[_Union[MapPoint, _Mapping]]] = ..., exit_lanes: _Optional[_Iterable[int]] = ..., left_boundaries: _Optional[_Iterable[_Union[BoundarySegment, _Mapping]]] = ..., right_boundaries: _Optional[_Iterable[_Union[BoundarySegment, _Mapping]]] = ...) -> None: ...

class BoundarySegment(_message.Message):
    __slots__ = ("lane_start_index", "lane_end_index", "boundary_feature_id")
    LANE_START_INDEX_FIELD_NUMBER: _ClassVar[int]
    LANE_END_INDEX_FIELD_NUMBER: _ClassVar[int]
    BOUNDARY_FEATURE_ID_FIELD_NUMBER: _ClassVar[int]
    lane_start_index: int
    lane_end_index: int
    boundary_feature_id: int
    def __init__(self, lane_start_index: _Optional[int] = ..., lane_end_index: _Optional[int] = ..., boundary_feature_id: _Optional[int] = ...) -> None: ...

class Line(_message.Message):
    __slots__ = ("type", "polyline")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    POLYLINE_FIELD_NUMBER: _ClassVar[int]
    type: int
    polyline: _containers.RepeatedCompositeFieldContainer[MapPoint]
    def __init__(self, type: _Optional[int] = ..., polyline: _Optional[_Iterable[_Union[MapPoint, _Mapping]]] = ...) -> None: ...

class Area(_message.Message):
    __slots__ = ("polygon",)
    POLYGON_FIELD_NUMBER: _ClassVar[int]
    polygon: _containers.RepeatedCompositeFieldContainer[MapPoint]
    def __init__(self, polygon: _Optional[_Iterable[_Union[MapPoint, _Mapping]]] = ...) -> None: ...
