"""Every method that the client of 0.9.16 can call has a handler, of the right arity."""

from __future__ import annotations

import pytest

from driveproof.sim.blueprints import library
from driveproof.sim.server import handlers
from driveproof.sim.server.handlers.batch import COMMANDS
from driveproof.sim.server.registry import METHODS, Refused, rpc
from driveproof.sim.server.versions import VERSIONS

#: Method and number of its arguments, without the client's metadata.
ARITY = {
    **dict.fromkeys(
        [
            "version",
            "get_episode_info",
            "get_episode_settings",
            "tick_cue",
            "get_available_maps",
            "get_map_info",
            "get_map_data",
            "get_navigation_mesh",
            "get_actor_definitions",
            "get_spectator",
            "get_weather_parameters",
            "get_imui_gravity",
            "get_names_of_all_objects",
            "get_vehicle_light_states",
            "reset_all_traffic_lights",
            "stop_recorder",
        ],
        0,
    ),
    **dict.fromkeys(
        [
            "set_episode_settings",
            "get_required_files",
            "request_file",
            "load_map_layer",
            "unload_map_layer",
            "set_weather_parameters",
            "set_imui_gravity",
            "query_lights_state",
            "get_all_level_BBs",
            "get_environment_objects",
            "draw_debug_shape",
            "get_actors_by_id",
            "destroy_actor",
            "get_actor_bounding_box",
            "disable_actor_constant_velocity",
            "set_actor_dead",
            "get_actor_component_names",
            "get_actor_bone_names",
            "get_actor_socket_names",
            "get_actor_bone_world_transforms",
            "get_actor_bone_relative_transforms",
            "get_actor_socket_world_transforms",
            "get_actor_socket_relative_transforms",
            "get_ackermann_controller_settings",
            "get_physics_control",
            "get_telemetry_data",
            "get_vehicle_light_state",
            "get_bones_transform",
            "get_pose_from_animation",
            "freeze_all_traffic_lights",
            "reset_traffic_light_group",
            "get_group_traffic_lights",
            "get_light_boxes",
            "get_sensor_token",
            "are_gbuffers_enabled",
            "enable_sensor_for_ros",
            "disable_sensor_for_ros",
            "is_sensor_enabled_for_ros",
            "is_traffic_manager_running",
            "get_traffic_manager_running",
            "add_traffic_manager_running",
            "destroy_traffic_manager",
            "stop_replayer",
            "set_replayer_time_factor",
            "set_replayer_ignore_hero",
            "set_replayer_ignore_spectator",
        ],
        1,
    ),
    **dict.fromkeys(
        [
            "copy_opendrive_to_file",
            "update_day_night_cycle",
            "enable_environment_objects",
            "cast_ray",
            "start_recorder",
            "show_recorder_file_info",
            "spawn_actor",
            "set_actor_location",
            "set_actor_transform",
            "set_actor_target_velocity",
            "set_actor_target_angular_velocity",
            "enable_actor_constant_velocity",
            "add_actor_impulse",
            "add_actor_force",
            "add_actor_angular_impulse",
            "add_actor_torque",
            "set_actor_simulate_physics",
            "set_actor_collisions",
            "set_actor_enable_gravity",
            "set_actor_autopilot",
            "show_vehicle_debug_telemetry",
            "get_actor_component_world_transform",
            "get_actor_component_relative_transform",
            "apply_control_to_vehicle",
            "apply_ackermann_control_to_vehicle",
            "apply_ackermann_controller_settings",
            "apply_physics_control",
            "set_vehicle_light_state",
            "open_vehicle_door",
            "close_vehicle_door",
            "get_wheel_steer_angle",
            "apply_control_to_walker",
            "set_bones_transform",
            "blend_pose",
            "set_traffic_light_state",
            "set_traffic_light_green_time",
            "set_traffic_light_yellow_time",
            "set_traffic_light_red_time",
            "freeze_traffic_light",
            "get_gbuffer_token",
            "send",
            "apply_batch",
        ],
        2,
    ),
    **dict.fromkeys(
        [
            "load_new_episode",
            "update_lights_state",
            "project_point",
            "show_recorder_collisions",
            "show_recorder_actors_blocked",
            "add_actor_impulse_at_location",
            "add_actor_force_at_location",
            "set_wheel_steer_direction",
        ],
        3,
    ),
    "spawn_actor_with_parent": 5,
    "replay_file": 5,
}


def test_every_method_of_the_protocol_is_answered() -> None:
    assert handlers.__all__
    assert {name: len(method.parameters) for name, method in METHODS.items()} == ARITY


def test_every_command_of_a_batch_is_known() -> None:
    assert sorted(COMMANDS) == list(range(1, 22)), "spawning, number 0, is written out"


def test_answers_are_wrapped_as_the_client_unwraps_them() -> None:
    version, destroy = METHODS["version"], METHODS["destroy_actor"]
    assert version.success("0.9.16") == [[1, "0.9.16"]]
    assert destroy.failure("no") == (None, [[0, ["no"]]])
    freeze = METHODS["freeze_all_traffic_lights"]
    assert freeze.success(None) == [[False]]
    assert freeze.failure("no") == (None, [[True, ["no"]]])
    batch = METHODS["apply_batch"]
    assert batch.success([[[1, 7]]]) == [[[1, 7]]], "not wrapped a second time"
    assert batch.failure("no") == ("no", None)


def test_every_sensor_has_a_place_in_the_clients_table() -> None:
    sensors = {name for name in library() if name.startswith("sensor.")}
    for version in VERSIONS.values():
        assert sensors <= set(version.sensor_index)


def test_a_name_has_one_handler() -> None:
    with pytest.raises(ValueError, match="version"):
        rpc(name="version")(lambda client: None)
    assert issubclass(Refused, Exception)
