"""The topics: adding one is a function and a line here."""

from __future__ import annotations

from driveproof.judge.scripted import junction_topics as junction
from driveproof.judge.scripted import road_topics as road
from driveproof.judge.scripted.places import PlaceKind, Side
from driveproof.judge.scripted.topics import Topic

_ROAD, _OPEN = PlaceKind.ROAD, (Side.SAME, Side.ONCOMING)
_ONCOMING, _VERGE = (Side.ONCOMING,), (Side.VERGE,)
_KERB = (Side.VERGE, Side.PARKING)

TOPICS: dict[str, Topic] = {
    topic.name: topic
    for topic in (
        Topic("nudge", _ROAD, road.nudge, _OPEN),
        Topic("pass_blocked", _ROAD, road.pass_blocked, _ONCOMING),
        Topic("pass_oncoming", _ROAD, road.pass_oncoming, _ONCOMING),
        Topic("courtesy", _ROAD, road.courtesy, _OPEN),
        Topic("work_zone", _ROAD, road.work_zone, right=_VERGE),
        Topic("emergency", _ROAD, road.emergency, _ONCOMING, _VERGE),
        Topic("occlusion", _ROAD, road.occlusion, right=_KERB),
        Topic("runs_out", _ROAD, road.runs_out, right=_KERB),
        Topic("walkers_wait", _ROAD, road.walkers_wait, right=_KERB),
        Topic("cut_in", _ROAD, road.cut_in, (Side.SAME,)),
        Topic("evade", _ROAD, road.evade, _OPEN),
        Topic("swing_wide", PlaceKind.TURN_RIGHT, junction.swing_wide, _ONCOMING),
        Topic("inside", PlaceKind.TURN_LEFT, junction.inside, _OPEN),
        Topic("red_light", PlaceKind.LIGHT, junction.red_light),
    )
}
