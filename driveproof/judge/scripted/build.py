"""The scripted data: settings at places of real towns, their clips, and the pairs that follow from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.judge.clips import SCRIPTED, Clip, Pair
from driveproof.judge.scripted.places import Place
from driveproof.judge.scripted.scene import Staged, as_meant, stage
from driveproof.judge.scripted.topics import Setting, Topic
from driveproof.maps import TownMap
from driveproof.rules.states import DT
from driveproof.rules.variants import Variant
from driveproof.scene import FUTURE_TIMES

ATTEMPTS = 40
"""Places and draws that are tried for a unit before it is given up."""
HORIZON_S = 4.0


@dataclass(frozen=True)
class Unit:
    """Twins: one topic at one place with and without its circumstance."""

    name: str
    topic: Topic
    place: Place
    split: str
    settings: tuple[Setting, ...]
    staged: tuple[Staged, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple(f"scripted/{self.name}-{on}" for on in ("on", "off"))


def generator(seed: int, *keys: object) -> np.random.Generator:
    """A generator that depends on what it is for, not on the order of the work."""
    text = "/".join([str(seed), *map(str, keys)])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def make_unit(
    topic: Topic,
    number: int,
    split: str,
    places: Sequence[Place],
    town: TownMap,
    seed: int,
    variant: Variant,
) -> Unit | None:
    """One unit at the first place and draw where every behaviour is what its name says; None if there is none."""
    name = f"{topic.name}-{split}-{number:04d}"
    rng = generator(seed, "unit", name)
    fitting = [place for place in places if topic.fits(place)]
    for _ in range(ATTEMPTS if fitting else 0):
        place = fitting[int(rng.integers(len(fitting)))]
        draw = int(rng.integers(1 << 32))
        settings = tuple(
            topic.build(place, np.random.default_rng(draw), on) for on in (True, False)
        )
        staged = []
        for setting, on in zip(settings, ("on", "off"), strict=True):
            key = f"scripted/{name}-{on}"
            made = stage(setting, place, town, key, topic.name, variant)
            if not all(as_meant(each, made.scores, n) for n, each in enumerate(setting.behaviours)):
                break
            staged.append(made)
        if len(staged) == len(settings):
            return Unit(name, topic, place, split, settings, tuple(staged))
    return None


def clips_of(unit: Unit) -> Iterator[tuple[Clip, Setting, Staged]]:
    """The clips of a unit, without pictures yet, each with what it was made from."""
    for key, setting, made in zip(unit.keys, unit.settings, unit.staged, strict=True):
        for n, behaviour in enumerate(setting.behaviours):
            row = made.scores.row(n)
            ade, fde = _errors(made, n)
            clip = Clip(
                key=f"{key}/{behaviour.name}",
                setting=key,
                place=unit.place.key,
                split=unit.split,
                plan=made.plans[n],
                size=(setting.shape.length, setting.shape.width),
                rules={code: row[code] for code in made.scores.rules},
                epdms=row["EPDMS_raw"],
                topic=unit.topic.name,
                kind=behaviour.name,
                label=behaviour.reasonable,
                label_source=SCRIPTED,
                ade=ade,
                fde=fde,
            )
            yield clip, setting, made


def pairs_of(unit: Unit, seed: int) -> Iterator[Pair]:
    """Reasonable against unreasonable in the same setting; who comes first is drawn."""
    for key, setting in zip(unit.keys, unit.settings, strict=True):
        good = [each.name for each in setting.behaviours if each.reasonable]
        bad = [each.name for each in setting.behaviours if not each.reasonable]
        for better in good:
            for worse in bad:
                name = f"{key}/{better}/{worse}"
                first = bool(generator(seed, "order", name).random() < 0.5)
                order = (better, worse) if first else (worse, better)
                yield Pair(
                    name,
                    unit.place.key,
                    unit.split,
                    f"{key}/{order[0]}",
                    f"{key}/{order[1]}",
                    "A" if first else "B",
                    SCRIPTED,
                )


def _errors(made: Staged, index: int) -> tuple[float, float]:
    """ADE and FDE in metres within 4 s of a behaviour to what the PDM-style planner would do."""
    shown = FUTURE_TIMES <= HORIZON_S + 1e-9
    steps = np.rint(FUTURE_TIMES[shown] / DT).astype(int)
    gap = np.hypot(*(made.plans[index][shown, :2] - made.reference[steps, :2]).T)
    return float(gap.mean()), float(gap[-1])
