"""Connecting, loading towns, settings, several clients."""

from __future__ import annotations

import threading
import time

import pytest

carla = pytest.importorskip("carla")


def test_versions_agree(client) -> None:
    assert client.get_server_version() == client.get_client_version() == "0.9.16"


@pytest.mark.slow
def test_a_client_without_a_server_gives_up_in_its_time() -> None:
    lonely = carla.Client("127.0.0.1", 19_999)
    lonely.set_timeout(0.5)
    begin = time.perf_counter()
    with pytest.raises(RuntimeError, match="time-out"):
        lonely.get_world()
    assert time.perf_counter() - begin < 5.0


@pytest.mark.slow
def test_every_town_is_listed_and_reload_keeps_it(client) -> None:
    names = [path.rsplit("/", 1)[-1] for path in client.get_available_maps()]
    assert {"Town01", "Town03", "Town05", "Town10HD", "Town12"} <= set(names)
    world = client.load_world("/Game/Carla/Maps/Town02")
    before = world.id
    assert world.get_map().name.rsplit("/", 1)[-1] == "Town02"
    again = client.reload_world()
    assert again.get_map().name == world.get_map().name
    assert again.id != before
    assert client.load_world("Town01_Opt").get_map().name.endswith("Town01_Opt")


def test_an_unknown_town_is_an_error_and_leaves_the_old_one(client) -> None:
    name = client.get_world().get_map().name
    with pytest.raises(RuntimeError):
        client.load_world("Atlantis")
    assert client.get_world().get_map().name == name


@pytest.mark.slow
def test_a_town_loads_only_if_it_is_another_one(client) -> None:
    client.load_world("Town02")
    key = client.get_world().id
    client.load_world_if_different("Town02")
    assert client.get_world().id == key
    client.load_world_if_different("Town01")
    assert client.get_world().id != key


@pytest.mark.slow
def test_fixed_steps_are_reported_exactly_while_the_server_free_runs(client) -> None:
    world = client.get_world()
    settings = world.get_settings()
    assert not settings.synchronous_mode
    for delta in (0.1, 0.05, 0.033333, 0.011112):
        settings.fixed_delta_seconds = delta
        world.apply_settings(settings)
        steps = [world.wait_for_tick(5.0).timestamp.delta_seconds for _ in range(5)]
        assert steps == pytest.approx([delta] * 5, abs=1e-7)
    settings.fixed_delta_seconds = None
    world.apply_settings(settings)
    assert not world.get_settings().fixed_delta_seconds


def test_settings_survive_the_round_trip_and_a_load_may_keep_them(client) -> None:
    world = client.get_world()
    wanted = carla.WorldSettings(
        synchronous_mode=True,
        no_rendering_mode=True,
        fixed_delta_seconds=0.025,
        max_substep_delta_time=0.005,
        max_substeps=7,
        max_culling_distance=120.0,
    )
    world.apply_settings(wanted)
    kept = client.load_world("Town02", False).get_settings()
    assert kept.synchronous_mode
    assert kept.no_rendering_mode
    assert kept.fixed_delta_seconds == pytest.approx(0.025)
    assert kept.max_substeps == 7
    reset = client.load_world("Town01", True).get_settings()
    assert not reset.synchronous_mode


def test_ticks_count_frames_and_time(world) -> None:
    seen = []
    handle = world.on_tick(lambda snapshot: seen.append(snapshot.frame))
    first = world.get_snapshot()
    frames = [world.tick() for _ in range(20)]
    last = world.get_snapshot()
    world.remove_on_tick(handle)
    assert frames == list(range(first.frame + 1, first.frame + 21))
    assert last.timestamp.elapsed_seconds - first.timestamp.elapsed_seconds == pytest.approx(1.0)
    assert seen == sorted(set(seen))
    assert frames[-1] in seen


def test_any_client_may_tick_and_all_see_the_same(client, carla_server, world) -> None:
    other = carla.Client(carla_server.host, carla_server.port)
    other.set_timeout(20.0)
    theirs = other.get_world()
    car = world.spawn_actor(
        world.get_blueprint_library().find("vehicle.audi.tt"), world.get_map().get_spawn_points()[0]
    )
    frame = theirs.tick()
    deadline = time.monotonic() + 5.0
    while world.get_snapshot().frame < frame and time.monotonic() < deadline:
        time.sleep(0.005)
    assert world.get_snapshot().frame == frame
    twin = theirs.get_actor(car.id)
    assert twin is not None
    assert twin.type_id == "vehicle.audi.tt"
    assert twin.get_transform().location.distance(car.get_transform().location) < 1e-3


def test_clients_come_and_go(carla_server) -> None:
    errors = []

    def visit() -> None:
        try:
            guest = carla.Client(carla_server.host, carla_server.port)
            guest.set_timeout(20.0)
            guest_world = guest.get_world()
            guest_world.wait_for_tick(5.0)
            assert guest_world.get_actors() is not None
        except Exception as error:  # a thread's error must not be lost
            errors.append(error)

    visitors = [threading.Thread(target=visit) for _ in range(10)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(40.0)
    assert not errors


ONE_ROAD = """<OpenDRIVE>
<header revMajor="1" revMinor="4" name="lane" version="1" north="9" south="-9" east="90" west="0"/>
<road name="avenue" length="90" id="7" junction="-1">
 <type s="0" type="town"><speed max="40" unit="km/h"/></type>
 <planView><geometry s="0" x="0" y="0" hdg="0" length="90"><line/></geometry></planView>
 <lanes><laneSection s="0">
  <center><lane id="0" type="none" level="false"/></center>
  <right><lane id="-1" type="driving" level="false"><width sOffset="0" a="3.6" b="0" c="0" d="0"/>
   <roadMark sOffset="0" type="solid" color="white" width="0.12"/></lane></right>
 </laneSection></lanes>
 <signals><signal id="42" name="lamp" s="60" t="-5" zOffset="3" hOffset="0" orientation="+" dynamic="yes"
  country="OpenDRIVE" type="1000001" subtype="-1" value="-1" height="1" width="0.5">
  <validity fromLane="-1" toLane="-1"/></signal></signals>
</road>
<controller name="c" id="9" sequence="0"><control signalId="42" type="0"/></controller>
</OpenDRIVE>"""


@pytest.mark.slow
def test_a_world_from_opendrive_has_its_road_and_its_light(client) -> None:
    parameters = carla.OpendriveGenerationParameters(
        vertex_distance=2.0,
        max_road_length=50.0,
        wall_height=0.0,
        additional_width=0.6,
        smooth_junctions=True,
        enable_mesh_visibility=True,
    )
    world = client.generate_opendrive_world(ONE_ROAD, parameters)
    try:
        assert world.get_map().get_waypoint(carla.Location(30.0, 1.8, 0.0)).road_id == 7
        assert world.get_map().get_spawn_points()
        (light,) = world.get_actors().filter("traffic.traffic_light*")
        assert light.get_opendrive_id() == "42"
        assert min(light.get_green_time(), light.get_yellow_time(), light.get_red_time()) > 0.0
        for state in (carla.TrafficLightState.Green, carla.TrafficLightState.Red):
            light.set_state(state)
            light.freeze(True)
            world.wait_for_tick(5.0)
            world.wait_for_tick(5.0)
            assert light.get_state() == state
    finally:
        client.load_world("Town01")
