"""A model that talks, driving: at each decision it answers a graph of questions, and the last answer's keys drive."""

from __future__ import annotations

import time
from typing import Any

from driveproof.errors import BadInput
from driveproof.policy.chat import ChatPolicy
from driveproof.policy.driving import (
    DRIVERS,
    DriveDecision,
    DriveObservation,
    DrivingPolicy,
    open_driver,
)
from driveproof.policy.guard import Guarded
from driveproof.policy.manner import check_manner
from driveproof.policy.plugin import open_plugin
from driveproof.policy.registry import KINDS, PolicySettings, open_policy
from driveproof.policy.wire.client import connect
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import InputMode, mode_to_json
from driveproof.questions import parse_keys
from driveproof.reasoning.graph import ACTION, ReasoningGraph, require_action
from driveproof.reasoning.presets import graph_name
from driveproof.reasoning.privileged import Privileged, needs_privilege, require_privilege
from driveproof.reasoning.run import Reasoner
from driveproof.reasoning.showing import moment_of
from driveproof.reasoning.trace import Sampling, Trace


class GraphPolicy:
    """A :class:`~driveproof.policy.driving.DrivingPolicy` made of a chat policy and a graph of questions.

    The keys are those of question 50, read by the parser that action and scoring share. An answer that names neither
    a direction nor a speed is a failure; one of the two may be missing (the action module has its defaults).

    Parameters
    ----------
    privileged
        Gives what only the driving side knows. Never touched in a camera mode without references whose graph has no
        USE_GT.
    wording_seed
        See :class:`~driveproof.reasoning.run.Reasoner`.

    Raises
    ------
    BadInput
        If the graph has no question 50 or gives it to the expert, or if mode or graph need privileged input and there
        is none.
    """

    def __init__(
        self,
        chat: ChatPolicy,
        graph: ReasoningGraph,
        mode: InputMode | None = None,
        *,
        privileged: Privileged | None = None,
        sampling: Sampling | None = None,
        wording_seed: int = 0,
    ) -> None:
        mode = mode or InputMode()
        require_action(graph)
        require_privilege(mode, graph, privileged)
        self._why = needs_privilege(mode, graph)
        self._privileged = privileged if self._why else None
        truth = self._privileged.answer if self._privileged and graph.use_truth else None
        self._wording_seed = wording_seed
        self._reasoner = Reasoner(
            chat, graph, mode, truth=truth, sampling=sampling, wording_seed=wording_seed
        )

    @property
    def name(self) -> str:
        """The chat policy's name."""
        return self._reasoner.chat.name

    @property
    def views(self) -> tuple[str, ...]:
        """Cameras that the mode shows."""
        return self._reasoner.mode.views

    @property
    def history(self) -> int:
        """Moments of each camera."""
        return self._reasoner.mode.history

    def identity(self) -> dict[str, Any]:
        """The chat policy's identity, the graph and its digest, mode, sampling, wording, and who tells the truth."""
        told = self._privileged
        return {
            "kind": "graph",
            "chat": self._reasoner.chat.identity(),
            "graph": self._reasoner.graph.to_json(),
            "graph_digest": self._reasoner.graph.digest,
            "mode": mode_to_json(self._reasoner.mode),
            "sampling": vars(self._reasoner.sampling).copy(),
            "wording_seed": self._wording_seed,
            "privileged": {"provider": told.name, "shows": self._why} if told else None,
        }

    def begin(self, episode: str, seed: int) -> None:
        """A new episode: forget everything."""
        self._reasoner.begin(episode, seed)

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """Run the graph and read the keys; whatever the policy fails at is a decision with an error."""
        start = time.monotonic()
        try:
            moment = moment_of(observation, self._reasoner.mode, self._privileged)
        except ValueError as error:
            return DriveDecision(error=str(error))
        trace = self._reasoner.think(moment)
        seconds = time.monotonic() - start
        return _decision(trace, seconds)


def _decision(trace: Trace, seconds: float) -> DriveDecision:
    step = trace.step(ACTION)
    assert step is not None  # checked when the policy was made
    said: dict[str, Any] = {
        "trace": trace.to_json(),
        "usage": trace.usage,
        "latency_s": seconds,
    }
    lost = next((step for step in trace.steps if step.outage), None)
    if (
        lost is not None
    ):  # whatever came after it lacks its answer, so the keys would not be the policy's
        return DriveDecision(error=f"question {lost.key.number}: {lost.error}", outage=True, **said)
    if step.text is None:
        return DriveDecision(error=f"question {ACTION}: {step.error}", **said)
    keys = parse_keys(step.text)
    if keys.direction is None and keys.speed is None:
        answer = " ".join(step.text.split())[-80:]
        return DriveDecision(error=f"question {ACTION}: no key in {answer!r}", **said)
    return DriveDecision(keys=keys, **said)


def open_graph_driver(
    spec: str,
    settings: PolicySettings | None = None,
    *,
    graph: ReasoningGraph,
    mode: InputMode | None = None,
    privileged: Privileged | None = None,
    sampling: Sampling | None = None,
) -> DrivingPolicy:
    """Open whatever drives: what talks (``transformers:``, ``openai:``, ``wire:``, a plug-in) by ``graph``, else as it is.

    Raises
    ------
    BadInput
        If nothing of that name drives, if graph and mode do not fit, or if the model was trained to be asked otherwise.
    """
    kind, colon, rest = spec.partition(":")
    found: ChatPolicy | DrivingPolicy
    if kind == "wire" and rest:
        found = connect(rest, settings)
    elif kind in KINDS and kind not in DRIVERS:
        found = open_talker(spec, graph, mode or InputMode(), settings)
    elif colon and kind not in DRIVERS:
        found = open_plugin(spec, {DrivingPolicy: "driving policy", ChatPolicy: "model that talks"})
        found = found if isinstance(found, ChatPolicy) else Guarded(found)
    else:
        found = open_driver(spec, settings)
    if isinstance(found, ChatPolicy):
        return GraphPolicy(found, graph, mode, privileged=privileged, sampling=sampling)
    return found


def open_talker(
    spec: str, graph: ReasoningGraph, mode: InputMode, settings: PolicySettings | None = None
) -> ChatPolicy:
    """Open a chat policy that is to answer ``graph`` in ``mode``.

    Raises
    ------
    BadInput
        If the policy does not talk, or was trained to be asked otherwise.
    """
    asked = {
        "mode": mode_to_json(mode),
        "graph": graph_name(graph),
        "wording": wording_hash(mode),
    }
    check_manner(spec, asked)
    chat = open_policy(spec, settings)
    if not isinstance(chat, ChatPolicy):
        raise BadInput(f"does not talk, hence cannot answer questions: {spec}")
    return chat
