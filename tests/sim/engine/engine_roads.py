"""Roads of which everything is known: straight ones, with sidewalks, a crosswalk, a light and signs."""

from __future__ import annotations

from driveproof.maps import TownMap, town_from_opendrive

_WIDTHS = {"driving": 3.5, "sidewalk": 2.0}


def _lane(number: int, kind: str) -> str:
    return (
        f'<lane id="{number}" type="{kind}" level="false"><width sOffset="0" a="{_WIDTHS[kind]}"'
        ' b="0" c="0" d="0"/></lane>'
    )


def straight_road(
    key: int = 1, length: float = 600.0, slope: float = 0.0, y: float = 0.0, extra: str = ""
) -> str:
    """A two-lane road from the origin along x, with sidewalks, rising by ``slope``."""
    left = _lane(2, "sidewalk") + _lane(1, "driving")
    right = _lane(-1, "driving") + _lane(-2, "sidewalk")
    return f"""<road name="" length="{length}" id="{key}" junction="-1">
      <planView><geometry s="0" x="0" y="{y}" hdg="0" length="{length}"><line/></geometry></planView>
      <elevationProfile><elevation s="0" a="0" b="{slope}" c="0" d="0"/></elevationProfile>
      <lanes><laneSection s="0"><left>{left}</left>
      <center><lane id="0" type="none" level="false"/></center><right>{right}</right>
      </laneSection></lanes>{extra}</road>"""


CROSSWALK = """<objects><object id="9" type="crosswalk" name="SimpleCrosswalk" s="100" t="0" zOffset="0"
  hdg="1.5707963" orientation="none"><outline>
  <cornerLocal u="-5.5" v="-2" z="0"/><cornerLocal u="5.5" v="-2" z="0"/>
  <cornerLocal u="5.5" v="2" z="0"/><cornerLocal u="-5.5" v="2" z="0"/></outline></object></objects>"""

SIGNALS = """<signals>
  <signal name="Light" id="77" s="200" t="-5" type="1000001" orientation="+" zOffset="0" value="-1"><validity fromLane="-1" toLane="-1"/></signal>
  <signal name="Stop" id="78" s="300" t="-5" type="206" orientation="+" zOffset="0" value="-1"><validity fromLane="-1" toLane="-1"/></signal>
  <signal name="Speed" id="79" s="400" t="-5" type="274" orientation="+" zOffset="0" value="60" unit="km/h"><validity fromLane="-1" toLane="-1"/></signal>
</signals>"""


def town_of(*roads: str) -> TownMap:
    """A town of these roads."""
    return town_from_opendrive("Test", f"<OpenDRIVE>{''.join(roads)}</OpenDRIVE>")
