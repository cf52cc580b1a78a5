"""Which lateral plan a driver follows: passing, holding a lane, or making room."""

from __future__ import annotations

from collections.abc import Sequence

from driveproof.sim.drivers.agents import Agent, Vehicle
from driveproof.sim.drivers.aside import aside_plan
from driveproof.sim.drivers.lateral import Purpose
from driveproof.sim.drivers.merging import held, hold_plan, join_plan
from driveproof.sim.drivers.passing import keep_passing, plan_pass
from driveproof.sim.drivers.perception import Blocker


def plan_sideways(
    driver: Vehicle, blockers: Sequence[Blocker], agents: Sequence[Agent], may_plan: bool
) -> None:
    """Set ``driver.plan``: keep, change or end the present one, or make one where there is a reason."""
    attentive = driver.style.attentive
    if driver.fresh:
        driver.fresh = False
        driver.plan = join_plan(driver) if attentive else driver.plan
    plan = driver.plan
    if plan is not None and plan.purpose is Purpose.PASS:
        driver.plan = keep_passing(driver, plan, agents)
    elif plan is not None and plan.purpose is Purpose.HOLD:
        driver.plan = held(driver, plan, agents)
    elif attentive:
        driver.plan = aside_plan(driver, agents)
    if driver.plan is None and attentive:
        driver.plan = hold_plan(driver, agents)
    if driver.plan is None and may_plan and blockers:
        driver.plan = plan_pass(driver, blockers, agents)
