"""The terms in which answers speak: one enumeration a slot. Words for them are in the wording modules."""

from __future__ import annotations

from enum import StrEnum


class Motion(StrEnum):
    """Coarse speed: below 0.5 m/s; below the larger of 4 m/s and two thirds of the ego's speed; else."""

    STOPPED = "stopped"
    SLOW = "slow"
    NORMAL = "normal"


class Course(StrEnum):
    """Heading against the ego's: within 45 degrees, beyond 135 degrees, between."""

    SAME = "same"
    OPPOSITE = "opposite"
    CROSSING = "crossing"


class Intent(StrEnum):
    """Where a vehicle is going."""

    STRAIGHT = "straight"
    SLIGHTLY_LEFT = "slightly_left"
    LEFT = "left"
    SLIGHTLY_RIGHT = "slightly_right"
    RIGHT = "right"
    CUTTING_IN = "cutting_in"


class Place(StrEnum):
    """Where something is, on the road as the ego sees it."""

    OWN_LANE = "own_lane"
    LEFT_LANE = "left_lane"
    RIGHT_LANE = "right_lane"
    ONCOMING_LANE = "oncoming_lane"
    IN_JUNCTION = "in_junction"
    JUNCTION_LEFT = "junction_left"
    JUNCTION_RIGHT = "junction_right"
    JUNCTION_AHEAD = "junction_ahead"
    HIGHWAY_ENTRY = "highway_entry"
    HIGHWAY_EXIT = "highway_exit"
    PARKING_LANE = "parking_lane"
    SHOULDER = "shoulder"
    BIKE_LANE = "bike_lane"
    SIDEWALK = "sidewalk"
    OFF_ROAD = "off_road"


class Along(StrEnum):
    """Position along the ego's road."""

    AHEAD = "ahead"
    BESIDE = "beside"
    BEHIND = "behind"


class SignState(StrEnum):
    """A stop sign: none, still to be obeyed, obeyed."""

    NONE = "none"
    PENDING = "pending"
    CLEARED = "cleared"


class LightColour(StrEnum):
    """What the light that governs the ego shows; ``NONE``: no such light."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    NONE = "none"


class Braking(StrEnum):
    """Whether the ego must brake; ``SPEED_UP`` says that it need not and may even go faster."""

    NONE = "none"
    SPEED_UP = "speed_up"
    SLOW_DOWN = "slow_down"
    STOP = "stop"


class Reason(StrEnum):
    """Why the ego brakes, waits, or may not."""

    NONE = "none"
    SPEED_LIMIT = "speed_limit"
    JUNCTION_SPEED = "junction_speed"
    CURVE = "curve"
    RED_LIGHT = "red_light"
    YELLOW_LIGHT = "yellow_light"
    STOP_SIGN = "stop_sign"
    YIELD_SIGN = "yield_sign"
    PEDESTRIAN = "pedestrian"
    PEDESTRIAN_CROSSING = "pedestrian_crossing"
    VEHICLE_TOO_CLOSE = "vehicle_too_close"
    STOPPED_VEHICLE = "stopped_vehicle"
    BRAKING_VEHICLE = "braking_vehicle"
    SLOW_VEHICLE = "slow_vehicle"
    BICYCLE = "bicycle"
    ONCOMING_VEHICLE = "oncoming_vehicle"
    CUT_IN = "cut_in"
    CROSSING_VEHICLE = "crossing_vehicle"
    BLOCKED_JUNCTION = "blocked_junction"
    MERGING_TRAFFIC = "merging_traffic"
    OBSTACLE = "obstacle"
    WAITING_TO_CHANGE_LANE = "waiting_to_change_lane"
    OPEN_DOOR = "open_door"
    EMERGENCY_VEHICLE = "emergency_vehicle"
    OFF_ROAD = "off_road"
    WRONG_WAY = "wrong_way"
    MISALIGNED = "misaligned"


class Maneuver(StrEnum):
    """A move out of the lane's middle."""

    NONE = "none"
    CHANGE_LEFT = "change_left"
    CHANGE_RIGHT = "change_right"
    CHANGE_EITHER = "change_either"
    USE_ONCOMING_LANE = "use_oncoming_lane"
    SHIFT_LEFT = "shift_left"
    SHIFT_RIGHT = "shift_right"
    FINISH_CHANGE = "finish_change"
    CANNOT_PASS = "cannot_pass"
    STEER_LEFT = "steer_left"
    STEER_RIGHT = "steer_right"
    TURN_AROUND = "turn_around"
    WAIT_FOR_HELP = "wait_for_help"


class ManeuverCause(StrEnum):
    """Why the ego must leave its lane's middle."""

    NONE = "none"
    ACCIDENT = "accident"
    CONSTRUCTION = "construction"
    PARKED_VEHICLE = "parked_vehicle"
    HAZARD = "hazard"
    OPEN_DOOR = "open_door"
    INVADING_VEHICLE = "invading_vehicle"
    COMMAND = "command"
    HIGHWAY_COMMAND = "highway_command"
    EMERGENCY_VEHICLE = "emergency_vehicle"
    PARKING_EXIT = "parking_exit"
    ON_ONCOMING_LANE = "on_oncoming_lane"
    WRONG_LANE = "wrong_lane"
    OFF_ROAD = "off_road"
    WRONG_WAY = "wrong_way"
    MISALIGNED = "misaligned"


class Postponement(StrEnum):
    """Why a needed move does not begin yet."""

    NONE = "none"
    LANE_OCCUPIED = "lane_occupied"
    ONCOMING_TRAFFIC = "oncoming_traffic"
    OBSTACLE_NOT_PASSED = "obstacle_not_passed"
    YIELDING = "yielding"
    TOO_EARLY = "too_early"


class Advice(StrEnum):
    """What to do because of a light or sign."""

    STOP_AND_WAIT = "stop_and_wait"
    SLOW_DOWN = "slow_down"
    STOP_THEN_GO = "stop_then_go"
    GO_ON = "go_on"
    GIVE_WAY = "give_way"
    OBEY_LIMIT = "obey_limit"
    LEAVE_LANE = "leave_lane"
    BE_CAREFUL = "be_careful"


class ConflictReason(StrEnum):
    """Why another's way overlaps the ego's."""

    NONE = "none"
    AHEAD_IN_LANE = "ahead_in_lane"
    CUTTING_IN = "cutting_in"
    CROSSING_JUNCTION = "crossing_junction"
    ONCOMING_TURN = "oncoming_turn"
    MERGING = "merging"
    ONCOMING_IN_LANE = "oncoming_in_lane"
    ON_TARGET_LANE = "on_target_lane"
    CROSSING_ROAD = "crossing_road"
    OPENING_DOOR = "opening_door"


class EgoMove(StrEnum):
    """The ego's own move that would lead to a conflict."""

    NONE = "none"
    GO_ON = "go_on"
    CHANGE_LEFT = "change_left"
    CHANGE_RIGHT = "change_right"
    TURN_LEFT = "turn_left"
    TURN_RIGHT = "turn_right"
    GO_STRAIGHT = "go_straight"


class Side(StrEnum):
    """Left or right."""

    LEFT = "left"
    RIGHT = "right"


class MarkingKind(StrEnum):
    """Lane markings, named by OpenDRIVE."""

    NONE = "none"
    BROKEN = "broken"
    SOLID = "solid"
    SOLID_SOLID = "double solid"
    SOLID_BROKEN = "solid-broken"
    BROKEN_SOLID = "broken-solid"
    BROKEN_BROKEN = "double broken"
    CURB = "curb"
    GRASS = "grass"
    BOTTS_DOTS = "botts dots"


class MarkingColour(StrEnum):
    """Paint of a marking."""

    WHITE = "white"
    YELLOW = "yellow"
    BLUE = "blue"
    GREEN = "green"
    RED = "red"
    NONE = "none"


class JunctionRelation(StrEnum):
    """Where the ego is relative to junctions: in one, less than 25 m before one, else; or at a motorway's ramps."""

    NONE = "none"
    BEFORE = "before"
    INSIDE = "inside"
    HIGHWAY_ENTRY = "highway_entry"
    HIGHWAY_EXIT = "highway_exit"


class Watch(StrEnum):
    """Lanes to look at before a move."""

    OWN_LANE = "own_lane"
    LEFT_LANE = "left_lane"
    RIGHT_LANE = "right_lane"
    ONCOMING_LANE = "oncoming_lane"
    FROM_LEFT = "from_left"
    FROM_RIGHT = "from_right"
    FROM_AHEAD = "from_ahead"
    BIKE_LANE = "bike_lane"
    RAMP = "ramp"


class Daytime(StrEnum):
    """By the sun: above 40, below 20 and below 0 degrees; ``UNKNOWN`` in a tunnel."""

    NOON = "noon"
    DAY = "day"
    TWILIGHT = "twilight"
    NIGHT = "night"
    UNKNOWN = "unknown"


class Sky(StrEnum):
    """The weather; ``UNKNOWN`` in a tunnel."""

    CLEAR = "clear"
    CLOUDY = "cloudy"
    LIGHT_RAIN = "light_rain"
    RAIN = "rain"
    HEAVY_RAIN = "heavy_rain"
    FOG = "fog"
    UNKNOWN = "unknown"


class Danger(StrEnum):
    """What time and weather do: sight and grip."""

    LOW_VISIBILITY = "low_visibility"
    SKIDDING = "skidding"


class Hazard(StrEnum):
    """Other hazards of the surroundings."""

    PUDDLES = "puddles"
    FLOOD = "flood"
    PARKED_LEFT = "parked_left"
    PARKED_RIGHT = "parked_right"
    BLIND_SPOT = "blind_spot"
    DEBRIS = "debris"


class Strategy(StrEnum):
    """What to do about hazards."""

    SLOW_DOWN = "slow_down"
    LIGHTS_ON = "lights_on"
    KEEP_DISTANCE = "keep_distance"
    BRAKE_GENTLY = "brake_gently"
    WATCH_ROADSIDE = "watch_roadside"
    READY_TO_BRAKE = "ready_to_brake"
    AVOID_DEBRIS = "avoid_debris"


class Bend(StrEnum):
    """The way of the current lane."""

    STRAIGHT = "straight"
    LEFT = "left"
    RIGHT = "right"
    JUNCTION = "junction"
    NO_LANE = "no_lane"
