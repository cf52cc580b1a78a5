"""A town with a long straight lane, and an ego on it."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.maps import TownMap, town_from_opendrive
from driveproof.render import View

ROAD = """<OpenDRIVE><road id="1" length="200" junction="-1">
<planView><geometry s="0" x="0" y="0" hdg="0.5" length="200"><line/></geometry></planView>
<lanes><laneSection s="0">
<left><lane id="1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane></left>
<center><lane id="0" type="none"><roadMark sOffset="0" type="solid" color="yellow"/></lane></center>
<right><lane id="-1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/>
<roadMark sOffset="0" type="solid" color="white"/></lane>
<lane id="-2" type="sidewalk"><width sOffset="0" a="4" b="0" c="0" d="0"/></lane></right>
</laneSection></lanes>
<signals><signal id="9" s="75" t="-5" type="206" zOffset="0"/></signals></road></OpenDRIVE>"""


@pytest.fixture(scope="session")
def town() -> TownMap:
    return town_from_opendrive("Straight", ROAD)


@pytest.fixture(scope="session")
def ego(town: TownMap) -> np.ndarray:
    """50 m along the right lane."""
    lane = town.lanes.index(1, 0, -1)
    row = town.lanes.points(lane).start + 25
    return np.append(town.lanes.centre[row, :2], town.lanes.heading[row])


@pytest.fixture
def view(town: TownMap, ego: np.ndarray) -> View:
    return View(town, ego)
