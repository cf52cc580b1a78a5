"""Policies by specification string. A new policy is one file and one line of ``KINDS``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from driveproof.errors import BadInput
from driveproof.policy.chat import ChatPolicy
from driveproof.policy.choice import ChoicePolicy, ConstantVelocity, Oracle, RandomChoice
from driveproof.policy.pictures import Pictures
from driveproof.policy.plugin import open_plugin

Policy = ChatPolicy | ChoicePolicy
Carrier = Literal["bytes", "file", "shared"]
"""How pictures travel to a policy server; what cannot travel so goes as bytes."""


@dataclass(frozen=True)
class PolicySettings:
    """How policies are run; what a kind does not know it ignores.

    Attributes
    ----------
    seed
        Of the random policy.
    image_root
        Directory that relative paths of pictures start from.
    batch_size, threads
        Of local models.
    timeout_s, attempts, concurrency, cache_dir
        Of served models.
    carrier
        How pictures travel to a policy server; None chooses.
    """

    seed: int = 0
    image_root: str = "."
    batch_size: int = 32
    threads: int = 0
    timeout_s: float = 120.0
    attempts: int = 4
    concurrency: int = 8
    cache_dir: str | None = None
    carrier: Carrier | None = None


def _local(rest: str, settings: PolicySettings) -> Policy:
    from driveproof.policy.local import TransformersPolicy

    if not Path(rest).is_dir():
        raise BadInput("no such model folder", path=rest)
    return TransformersPolicy(
        rest,
        Pictures(settings.image_root),
        batch_size=settings.batch_size,
        threads=settings.threads,
    )


def _baseline(rest: str, settings: PolicySettings) -> Policy:
    from driveproof.policy.baselines import baseline_folder

    return _local(str(baseline_folder(rest)), settings)


def _served(rest: str, settings: PolicySettings) -> Policy:
    from driveproof.policy.remote import OpenAIPolicy

    url, _, model = rest.partition("#")
    if not model:
        raise BadInput("no model is named", field=rest, hint="openai:http://host:8000/v1#MODEL")
    return OpenAIPolicy(
        url,
        model,
        Pictures(settings.image_root),
        timeout_s=settings.timeout_s,
        attempts=settings.attempts,
        concurrency=settings.concurrency,
        cache_dir=settings.cache_dir,
    )


def _recorded(rest: str, settings: PolicySettings) -> Policy:
    from driveproof.policy.recorded import Recorded

    path, _, run = rest.partition("#")
    return Recorded(path, run)


def _wire(rest: str, settings: PolicySettings) -> Policy:
    from driveproof.policy.wire.client import WireChat, connect

    policy = connect(rest, settings, "chat")
    assert isinstance(policy, WireChat)
    return policy


@dataclass(frozen=True)
class PolicyKind:
    """One kind of policy: how its specification looks, what it is, how it is opened."""

    form: str
    summary: str
    open: Callable[[str, PolicySettings], Policy]


KINDS = {
    "transformers": PolicyKind("transformers:FOLDER", "a local model folder", _local),
    "baseline": PolicyKind("baseline:NAME[#FOLDER]", "a published model by name", _baseline),
    "openai": PolicyKind("openai:URL#MODEL", "an OpenAI-compatible server", _served),
    "wire": PolicyKind("wire:URL[#NAME]", "a model behind `driveproof policy serve`", _wire),
    "recorded": PolicyKind("recorded:FILE[#RUN]", "answers of an earlier run", _recorded),
    "constant_velocity": PolicyKind(
        "constant_velocity", "the option nearest to v0 t", lambda rest, s: ConstantVelocity()
    ),
    "random": PolicyKind("random", "chance level", lambda rest, s: RandomChoice(s.seed)),
    "oracle": PolicyKind("oracle", "the ceiling, privileged", lambda rest, s: Oracle()),
}


def fits(spec: str, form: str) -> bool:
    """Whether what stands behind the colon is there if ``form`` wants it (``kind:REST``, ``kind[:REST]``, ``kind``)."""
    _, colon, rest = spec.partition(":")
    if bool(colon) != bool(rest):
        return False
    return "[:" in form or bool(rest) == (":" in form)


def open_policy(spec: str, settings: PolicySettings | None = None) -> Policy:
    """Open the policy that ``spec`` names, for example ``transformers:models/sft``.

    Raises
    ------
    BadInput
        If the kind is unknown, the rest is missing or superfluous, or the policy cannot be opened.
    """
    name, colon, rest = spec.partition(":")
    kind = KINDS.get(name)
    if kind is None and colon:
        titles = {ChatPolicy: "model that talks", ChoicePolicy: "policy that chooses"}
        plugin: Policy = open_plugin(spec, titles)
        return plugin
    if kind is None:
        raise BadInput(f"no such kind of policy: {name}", hint="one of " + ", ".join(sorted(KINDS)))
    if not fits(spec, kind.form):
        raise BadInput(f"not a policy: {spec}", hint=f"write {kind.form}")
    return kind.open(rest, settings or PolicySettings())
