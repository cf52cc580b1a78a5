"""Whose failure an exception during a decision is: the policy's, its model server's, or the driving side's."""

from __future__ import annotations

from typing import Any

import pytest

from driveproof.drive import seat
from driveproof.drive.plan import DriveSettings
from driveproof.drive.privileged import PrivilegedFailed, Vouched
from driveproof.errors import BadInput, Unreachable
from driveproof.policy import ChatReply, DriveDecision
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QuestionKey
from driveproof.reasoning import PRESETS, GraphPolicy, Privileged
from driveproof.sim.client import ServerLost
from tests.reasoning.talkers import Talker, seen


class Failing:
    """An expert that fails at whatever it is asked."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise self._error

    marks = bev = marked = answer = _fail


def graph_policy(error: Exception, shown: Shown = Shown.CAMERA, graph: str = "paper") -> Any:
    told = Vouched(Failing(error))
    assert isinstance(told, Privileged)
    policy = GraphPolicy(Talker(), PRESETS[graph].graph, InputMode(shown), privileged=told)
    policy.begin("e", 0)
    return policy


@pytest.mark.parametrize("error", [ValueError("an empty lane"), BadInput("none"), KeyError(3)])
@pytest.mark.parametrize("shown", list(Shown))
def test_what_the_expert_breaks_is_not_the_policys(error: Exception, shown: Shown) -> None:
    policy = graph_policy(error, shown)
    with pytest.raises(PrivilegedFailed, match=type(error).__name__) as caught:
        seat.guarded(lambda: policy.decide(seen()))
    assert caught.value.__cause__ is error


def test_a_simulator_that_is_lost_while_it_shows_the_scene_is_no_lost_model() -> None:
    policy = graph_policy(ServerLost("gone"), Shown.BEV, "action")
    with pytest.raises(ServerLost, match="gone"):
        seat.guarded(lambda: policy.decide(seen()))


def test_what_the_policy_raises_is_its_own() -> None:
    def fail(error: Exception) -> Any:
        raise error

    with pytest.raises(seat.ModelLost):
        seat.guarded(lambda: fail(Unreachable("the model")))
    with pytest.raises(seat.PolicyBroke, match="KeyError"):
        seat.guarded(lambda: fail(KeyError(3)))


def test_an_error_that_quotes_a_lost_server_is_the_policys_and_an_outage_is_not() -> None:
    driver: Any = object.__new__(seat.PolicyDriver)
    driver._seat = seat.Seat(None, DriveSettings(), None)  # type: ignore[arg-type]
    driver._errors = 0
    words = "question 50: no key in 'model server: APITimeoutError: '"
    steps = {"steps": [{"error": words}]}
    for _ in range(seat.MOST_ERRORS - 1):
        driver._check(DriveDecision(error=words, trace=steps))
    with pytest.raises(seat.PolicyBroke):
        driver._check(DriveDecision(error=words, trace=steps))
    with pytest.raises(seat.ModelLost, match="quota"):
        driver._check(DriveDecision(error="quota", outage=True))


def test_an_outage_has_an_error() -> None:
    with pytest.raises(ValueError, match="without an error"):
        ChatReply("yes", outage=True)
    with pytest.raises(ValueError, match="exactly one"):
        DriveDecision(outage=True)


def test_the_expert_is_passed_on_where_it_does_not_fail() -> None:
    class Oracle:
        name = "oracle"

        def answer(self, key: QuestionKey) -> str:
            return f"yes, {key.number}"

    told = Vouched(Oracle())  # type: ignore[arg-type]
    assert (told.name, told.answer(QuestionKey(24))) == ("oracle", "yes, 24")
