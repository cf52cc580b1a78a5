"""From a policy's specification to whoever sits in the ego: the expert, a driving policy, or a model that talks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx

from driveproof.drive.declared import check_cameras, identity_of
from driveproof.drive.kinds import EXPERT, SERVED, check_kind
from driveproof.drive.notes import DecisionLog
from driveproof.drive.plan import DrivePlan, DriveSettings, Episode, PolicyFacts
from driveproof.drive.privileged import Vouched
from driveproof.drive.seat import ExpertSeat, ModelLost, Seat, guarded
from driveproof.drive.witness import Witness
from driveproof.errors import BadInput, Unreachable
from driveproof.policy.driving import DrivingPolicy
from driveproof.policy.latency import parse_latency
from driveproof.policy.manner import check_manner, read_manner
from driveproof.policy.registry import PolicySettings
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import Cameras, InputMode, Shown, mode_to_json
from driveproof.reasoning import (
    GraphPolicy,
    Privileged,
    ReasoningGraph,
    graph_name,
    open_graph,
    open_graph_driver,
)
from driveproof.reasoning.graph_files import parse_graph

ADDRESS = "{address}"
"""Stands in a specification for where a server of ours listens."""
DEFAULT_GRAPH, DEFAULT_MODE = "action", "camera"
NOTED = "the expert's answers are noted, not shown"
HEALTH_S = 3.0


def parse_mode(text: str) -> InputMode:
    """A mode of input from words: ``camera``, ``bev`` or ``text``, then ``references``, ``six``, ``history=N``.

    Raises
    ------
    BadInput
        If a word is none of these, or the combination has no meaning.
    """
    shown, *more = (text or DEFAULT_MODE).split("+")
    if shown not in list(Shown):
        raise BadInput(f"no such mode: {text}", hint="camera, bev or text, as in camera+six")
    history, cameras, references = 1, Cameras.FRONT, False
    for word in more:
        count = re.fullmatch(r"history=([1-9][0-9]?)", word)
        if count:
            history = int(count[1])
        elif word == "six":
            cameras = Cameras.SIX
        elif word == "references":
            references = True
        else:
            raise BadInput(f"no such word of a mode: {word}", hint="references, six, history=N")
    if shown != Shown.CAMERA and (history > 1 or cameras is not Cameras.FRONT):
        raise BadInput(f"{text}: history and six belong to the mode camera")
    return InputMode(Shown(shown), references, history, cameras)


def mode_text(mode: Mapping[str, Any]) -> str:
    """The words of a mode as JSON has it; :func:`parse_mode` reads them."""
    words = [str(mode["shown"])]
    words += ["six"] if mode.get("cameras") == Cameras.SIX else []
    words += ["references"] if mode.get("references") else []
    words += [f"history={mode['history']}"] if mode.get("history", 1) != 1 else []
    return "+".join(words)


def in_its_manner(
    served: str, settings: DriveSettings, graph: ReasoningGraph | None = None
) -> DriveSettings:
    """The settings with graph and mode that a model folder says it was trained for, where none are given.

    ``graph`` is what the settings' name of one stands for, if that is known.

    Raises
    ------
    BadInput
        If others are given than it was trained for.
    """
    kind, _, folder = served.partition(":")
    manner = read_manner(folder) if kind == "transformers" else {}
    if not manner:
        return settings
    found = {}
    if not settings.graph and isinstance(manner.get("graph"), str):
        found["graph"] = manner["graph"]
    if not settings.mode and isinstance(manner.get("mode"), Mapping):
        found["mode"] = mode_text(manner["mode"])
    chosen = settings.model_copy(update=found)
    mode = parse_mode(chosen.mode)
    graph = graph or open_graph(chosen.graph or DEFAULT_GRAPH)
    check_manner(
        served,
        {"mode": mode_to_json(mode), "graph": graph_name(graph), "wording": wording_hash(mode)},
    )
    return chosen


def graph_of(facts: PolicyFacts) -> ReasoningGraph | None:
    """The graph that a run was begun with, from its plan; None for a policy that is asked by none.

    A run keeps the graph itself, not only the name of its file: the file may change, or lie on another machine.

    Raises
    ------
    BadInput
        If it is none, or its digest is not the one beside it: somebody has changed the plan.
    """
    if facts.identity.get("kind") != "graph":
        return None
    place = "policy.identity.graph"
    graph = parse_graph(facts.identity.get("graph"), prefix=f"{place}.")
    if graph.digest != facts.identity.get("graph_digest"):
        raise BadInput("is not the graph that the run was begun with", field=place)
    return graph


def open_policy(
    spec: str,
    settings: DriveSettings,
    privileged: Privileged | None = None,
    graph: ReasoningGraph | None = None,
) -> DrivingPolicy:
    """Open a policy that is not the expert; ``privileged`` gives what its mode or graph asks of the simulator.

    ``graph`` is what the settings' name of one stands for, if that is known.

    Raises
    ------
    BadInput
        If there is no such policy, or it does not fit graph and mode.
    Unreachable
        If its server does not answer.
    """
    check_kind(spec)
    return open_graph_driver(
        spec,
        PolicySettings(seed=settings.seed),
        graph=graph or open_graph(settings.graph or DEFAULT_GRAPH),
        mode=parse_mode(settings.mode),
        privileged=privileged,
    )


def describe(
    spec: str,
    settings: DriveSettings,
    served: str = "",
    address: str = "",
    graph: ReasoningGraph | None = None,
) -> tuple[PolicyFacts, DriveSettings]:
    """What ``run.json`` says of a policy, which is opened for it, and the settings with its graph and mode named.

    ``graph`` is what the settings' name of one stands for, if that is known.

    Raises
    ------
    BadInput
        As :func:`open_policy`, if graph or mode are given to a policy that does not talk, if there is no camera that
        it wants to see, or if its identity is no JSON.
    Unreachable
        If its server does not answer.
    """
    settings = in_its_manner(served, settings, graph)
    parse_latency(settings.latency)
    policy: DrivingPolicy | None = None
    privileged: list[str] = []
    identity: dict[str, Any] = {"kind": EXPERT}
    if spec == EXPERT:
        privileged.append("the expert drives")
    else:
        witness = Witness(settings, parse_mode(settings.mode))
        where = spec.replace(ADDRESS, address)
        policy = open_policy(where, settings, witness, graph)
        if where.startswith(SERVED) and not answers(where):
            raise Unreachable(f"the policy's server does not answer: {where}")
        check_cameras(policy, settings.pictures)
        identity = identity_of(policy)
        told = identity.get("privileged")
        privileged += [str(told.get("shows"))] if isinstance(told, dict) else []
        privileged += [NOTED] if settings.truth else []
    facts = PolicyFacts(
        spec=spec,
        served=served,
        name=EXPERT if policy is None else policy.name,
        identity=_anywhere(identity, address),
        privileged=tuple(privileged),
    )
    return facts, _asked(spec, settings, isinstance(policy, GraphPolicy))


def _asked(spec: str, settings: DriveSettings, talks: bool) -> DriveSettings:
    if talks:
        named = {
            "graph": settings.graph or DEFAULT_GRAPH,
            "mode": settings.mode or DEFAULT_MODE,
        }
        return settings.model_copy(update=named)
    for name in ("graph", "mode"):
        if getattr(settings, name):
            raise BadInput(f"{spec} does not talk and has no {name}", field=f"--{name}")
    return settings


def _anywhere(value: Any, address: str) -> Any:
    """An identity without the address of a server of ours, which changes from start to start."""
    if isinstance(value, Mapping):
        return {key: _anywhere(item, address) for key, item in value.items()}
    if isinstance(value, str) and address:
        return value.replace(address, ADDRESS)
    return value


def make_seat(
    plan: DrivePlan,
    episode: Episode,
    log: DecisionLog,
    address: str = "",
    weather: Mapping[str, float] | None = None,
) -> ExpertSeat | Seat:
    """Whoever drives an episode; a policy has begun it.

    Raises
    ------
    ModelLost, PolicyBroke
        If the policy cannot begin; ModelLost if its server serves another than the run was begun with.
    BadInput
        If the plan's graph is not the one that the run was begun with.
    """
    settings, facts = plan.settings, plan.policy
    if facts.spec == EXPERT:
        return ExpertSeat(settings, log)
    spec = facts.spec.replace(ADDRESS, address)
    mode = parse_mode(settings.mode)
    witness = Witness(settings, mode, weather) if facts.privileged else None
    told = None if witness is None else Vouched(witness)
    graph = graph_of(facts)
    policy = guarded(lambda: open_policy(spec, settings, told, graph))
    # every episode connects anew, and whoever answers now may be another than when the run began
    if _served_digest(policy.identity()) != _served_digest(facts.identity):
        raise ModelLost("the server serves another model than the run was begun with")
    guarded(lambda: policy.begin(episode.key, episode.seed))
    return Seat(policy, settings, log, witness, partial(answers, spec))


def _served_digest(identity: Mapping[str, Any]) -> Any:
    """The digest of what a policy server serves; None if the policy is behind none."""
    served = identity.get("chat", identity)
    return served.get("digest") if served.get("kind") == "wire" else None


def answers(spec: str) -> bool:
    """Whether the server that a specification names still answers; true if it names none.

    It is asked by the way that the policy's own calls take: the wire's pass by every proxy of the environment, an
    OpenAI client's do not.
    """
    found = re.search(r"https?://[^#\s]+", spec)
    if found is None:
        return True
    base = found[0].rstrip("/")
    wire = spec.startswith("wire:")
    url = f"{base}/health" if wire else f"{base}/models"
    try:
        with (
            httpx.Client(trust_env=not wire, timeout=HEALTH_S, follow_redirects=not wire) as client,
            client.stream("GET", url) as answer,
        ):
            # whoever refuses is alive
            return answer.status_code == 200 if wire else answer.status_code < 500
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
