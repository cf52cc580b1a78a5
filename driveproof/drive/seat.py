"""The ego's seat: a policy is asked twice a second, its keys are executed at every tick."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from driveproof.action import ActionModule, Control, Ego
from driveproof.action.driver import KeyDriver
from driveproof.commenter.lateral import FLOWING
from driveproof.commenter.live import ExpertKeys, LiveExpert
from driveproof.drive.eyes import Eyes, mounts_of
from driveproof.drive.navigator import Navigator
from driveproof.drive.notes import DecisionLog
from driveproof.drive.plan import DriveSettings
from driveproof.drive.privileged import PrivilegedFailed
from driveproof.drive.witness import Witness
from driveproof.errors import Unreachable
from driveproof.maps import Route
from driveproof.policy.driving import DriveDecision, DrivingPolicy
from driveproof.policy.latency import parse_latency
from driveproof.questions import ActionKeys
from driveproof.scene.images import Pixels
from driveproof.sim.client import ServerLost, WorldState
from driveproof.sim.drivers.fleet import plant_of
from driveproof.sim.scenarios import Stage

ROUNDING_S = 1e-6
MOST_ERRORS = 20
"""So many decisions in a row without an answer are a broken policy, at the usual rate after ten seconds."""


class PolicyBroke(Exception):
    """The policy raised, or does not decide any more."""


class ModelLost(Exception):
    """Whoever serves the policy's model does not answer."""


class Pedals(Protocol):
    """What an ego's driver does with its car."""

    @property
    def throttle(self) -> float:
        """0 to 1."""

    @property
    def brake(self) -> float:
        """0 to 1."""

    @property
    def steer(self) -> float:
        """-1 to 1, right positive."""


@dataclass
class Seat:
    """Puts a policy into the ego of a stage: a ``DriverFactory``.

    Attributes
    ----------
    policy
        It has begun its episode.
    log
        Takes every decision.
    witness
        The expert beside it; None if nothing of the simulator's state is asked for.
    alive
        Whether the model's server still answers; asked when there is an error instead of a decision.
    """

    policy: DrivingPolicy
    settings: DriveSettings
    log: DecisionLog
    witness: Witness | None = None
    alive: Callable[[], bool] = lambda: True
    driver: PolicyDriver | None = None
    before: Callable[[], None] = lambda: None
    """Called before the policy is asked: it may never come back."""

    @property
    def name(self) -> str:
        """The policy's."""
        return self.policy.name

    def __call__(self, stage: Stage, ego: Any, route: Route) -> PolicyDriver:
        """The driver, at the start of the route."""
        if self.witness is not None:
            self.witness.attach(stage, ego, route)
        self.driver = PolicyDriver(self, stage, ego, route)
        return self.driver

    @property
    def pedals(self) -> Pedals | None:
        """What the ego was told last."""
        return None if self.driver is None else self.driver.pedals

    def close(self) -> None:
        """Tell the policy that its episode is over; what it makes of that is no failure of the episode."""
        for name in ("end", "close"):
            leave = getattr(self.policy, name, None)
            if callable(leave):
                with suppress(Exception):  # the user's own code
                    leave()


class PolicyDriver:
    """Asks a policy at fixed moments, and does what it said in between.

    The cameras come at the first tick, so that the first decision falls on the second one, and every later one a
    whole number of periods after it. While the policy thinks, the last decision holds.
    """

    def __init__(self, seat: Seat, stage: Stage, ego: Any, route: Route) -> None:
        self._seat, self._session, self._ego = seat, stage.session, ego
        self._module = ActionModule.on_route(
            stage.roads.town, route, flowing=stage.story in FLOWING
        )
        self._module.plant = plant_of(ego.type_id)
        self._navigator = Navigator(stage.roads.route_path(route), int(ego.id))
        self._period = 1.0 / seat.settings.rate_hz
        self._latency = parse_latency(seat.settings.latency)
        self._slot = math.inf
        self._errors = 0
        self._eyes: Eyes | None = None
        self._held: Pedals | None = None
        self._coming: tuple[float, DriveDecision] | None = None
        self.pedals: Pedals | None = None
        """What the ego was told last."""

    def control(self, state: WorldState) -> Pedals:
        """Pedals and steer until the next tick."""
        actor = state.actors[int(self._ego.id)]
        me = Ego(actor.x, actor.y, actor.heading, actor.speed)
        self._navigator.see(state)
        if self._seat.witness is not None:
            self._seat.witness.see(state)
        if self._eyes is None:
            self._eyes = self._open_eyes()
            self._slot = state.time + self._session.delta_s
        if self._coming is not None and state.time >= self._coming[0] - ROUNDING_S:
            self._apply(self._coming[1], me)
            self._coming = None
        if state.time >= self._slot - ROUNDING_S:
            self._slot += self._period
            self._at_slot(state, me, self._eyes.look(state.frame))
        self.pedals = self._held if self._held is not None else self._module.control(me)
        return self.pedals

    def _open_eyes(self) -> Eyes:
        policy, sizes = self._seat.policy, self._seat.settings.pictures
        mounts, history = guarded(lambda: (mounts_of(policy.views, sizes), int(policy.history)))
        return Eyes(self._session, self._ego, mounts, self._period, history)

    def _at_slot(
        self, state: WorldState, me: Ego, pictures: Mapping[str, Sequence[Pixels]]
    ) -> None:
        """Ask the policy, unless it still thinks."""
        if self._coming is not None:
            return
        seen, witness = self._navigator.observation(pictures), self._seat.witness
        if witness is not None:
            witness.at_decision()
        self._seat.before()
        decision = guarded(lambda: self._seat.policy.decide(seen))
        self._check(decision)
        noted = witness if self._seat.settings.truth else None
        truth = None if noted is None else noted.truth(decision)
        late = self._latency.of(decision)
        try:
            self._seat.log.add(seen, decision, seen.time_s + late, truth)
        except (TypeError, ValueError, AttributeError) as error:
            raise PolicyBroke(f"its decision cannot be written: {error}"[:300]) from error
        if late > 0.0:
            self._coming = state.time + late, decision
        else:
            self._apply(decision, me)

    def _check(self, decision: DriveDecision) -> None:
        """What a lost server had to do with is no decision of the policy: ModelLost; too many errors: PolicyBroke."""
        if decision.outage or (decision.error and not self._seat.alive()):
            raise ModelLost(decision.error)
        self._errors = self._errors + 1 if decision.error else 0
        if self._errors >= MOST_ERRORS:
            raise PolicyBroke(
                f"{MOST_ERRORS} decisions in a row failed, the last: {decision.error}"
            )

    def _apply(self, decision: DriveDecision, me: Ego) -> None:
        """Take a decision over; an error leaves the last one in force."""
        if decision.keys is not None:
            self._held = None
            self._module.decide(decision.keys, me)
        elif decision.controls is not None:
            self._held = decision.controls


def guarded(call: Callable[[], Any]) -> Any:
    """The result of a call of a policy.

    Raises
    ------
    ModelLost
        If its server does not answer.
    ServerLost, PrivilegedFailed
        If simulator or expert fail while they tell it something: not the policy's failure.
    PolicyBroke
        If it raises anything else.
    """
    try:
        return call()
    except PrivilegedFailed as error:
        if isinstance(error.__cause__, ServerLost):
            raise error.__cause__ from None
        raise
    except ServerLost:  # a policy that looks at the simulator's state
        raise
    except Unreachable as error:
        raise ModelLost(str(error)) from error
    except Exception as error:  # the user's own code
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise PolicyBroke(text[:300]) from error


class _Overheard:
    """The expert as a source of keys, with its decisions noted."""

    def __init__(self, expert: LiveExpert, navigator: Navigator, log: DecisionLog) -> None:
        self._expert, self._navigator, self._log = expert, navigator, log

    def see(self, state: WorldState) -> None:
        """Pass it on."""
        self._navigator.see(state)
        self._expert.see(state)

    def keys(self) -> ActionKeys:
        """The expert's, noted with its reasons."""
        keys = self._expert.keys()
        seen = self._navigator.observation({})
        self._log.add(seen, DriveDecision(keys, trace=self._why()), seen.time_s)
        return keys

    def _why(self) -> Mapping[str, Any] | None:
        decision = self._expert.decision
        if decision is None:
            return None
        return {"brake": decision.brake.reason.value, "move": decision.move.cause.value}


@dataclass
class ExpertSeat:
    """Puts the expert, who reads the simulator's state, into the ego of a stage; its decisions are noted."""

    settings: DriveSettings
    log: DecisionLog
    name: str = "expert"
    driver: ExpertDriver | None = None

    def __call__(self, stage: Stage, ego: Any, route: Route) -> ExpertDriver:
        """The driver, at the start of the route."""
        driver = ExpertKeys()(stage, ego, route)
        assert isinstance(driver.source, LiveExpert)
        navigator = Navigator(stage.roads.route_path(route), int(ego.id))
        source = _Overheard(driver.source, navigator, self.log)
        every = 1.0 / self.settings.rate_hz
        self.driver = ExpertDriver(KeyDriver(driver.module, source, int(ego.id), every))
        return self.driver

    @property
    def pedals(self) -> Pedals | None:
        """What the ego was told last."""
        return None if self.driver is None else self.driver.pedals

    def close(self) -> None:
        """Nothing has to be told to the expert."""


@dataclass
class ExpertDriver:
    """The expert's control, and the last of it for the motion table."""

    driver: KeyDriver
    pedals: Control | None = None

    def control(self, state: WorldState) -> Control:
        """Pedals and steer until the next tick."""
        self.pedals = self.driver.control(state)
        return self.pedals
