"""Sheets for two annotators: drawn, blinded, shuffled. One folder an annotator; the key stays with whoever asked.

DEFT-RLVR, appendix B.2 (scale, pairs) and appendix E (disjoint halves). Files of an annotator: ``texts.csv`` with ``texts.html``, the
decisions apart (``decisions.csv``, ``decisions.html``: they show what was driven, which the first sheet withholds), and ``pairs``.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.cfs import AXES, CfsCase, CfsJudge, CfsScore
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.normalise import normalise
from driveproof.evaluation.score import score_decision
from driveproof.files import atomic_dir, write_json
from driveproof.mcq import McqItem
from driveproof.mcq.interaction import Answer
from driveproof.policy import derive_seed
from driveproof.policy.pictures import Pictures
from driveproof.prompts import PromptStyle, shown_images
from driveproof.scene import FUTURE_TIMES

ANNOTATORS = ("annotator_1", "annotator_2")
VERSION = 1
GUIDES = {
    "texts": (
        "Each section shows a moment of driving and one rationale. In texts.csv, give each rationale 0, 1 or 2 on four axes.",
        "grounding: 0 what it states conflicts with the scene or has no support in it; 1 it uses some relevant evidence, but leaves out or "
        "misreads a cue that is not critical; 2 all claims that matter for the decision are supported.",
        "no_hallucination: 0 a consequential thing, event, light, sign or interaction is made up; 1 an unsupported detail that is not critical; "
        "2 no unsupported claim.",
        "specificity: 0 it could stand under any scene; 1 little use of what is particular here; 2 it names the road users, places and traffic "
        "rules that determine the maneuver.",
        "coherence: 0 the conclusion does not follow, or a major contradiction; 1 plausible with a missing link or a small inconsistency; "
        "2 a complete and consistent chain from evidence to maneuver.",
        "Work alone. Leave a field empty if you cannot judge it.",
    ),
    "decisions": (
        "First finish texts.csv. Each section shows a decision and what was driven. In decisions.csv, write yes if direction and speed both agree, else no.",
    ),
    "pairs": (
        "Each section shows a moment of driving and two rationales. In pairs.csv, write 1 or 2 for the better one by grounding, absence of "
        "hallucination, specificity and coherence, or tie.",
    ),
}
COLUMNS = {"texts": AXES, "decisions": ("agrees",), "pairs": ("better",)}
_VIEWS = PromptStyle(frames=2)


@dataclass(frozen=True)
class SheetPlan:
    """What to draw.

    ``texts`` rationales are drawn from all runs together; each goes to one annotator, or to ``both``. ``pairs`` names two runs that
    are compared on the same questions. ``seed`` draws, shuffles and blinds.
    """

    texts: int = 40
    both: bool = False
    pairs: tuple[str, str] | None = None
    seed: int = 0


@dataclass(frozen=True)
class _Text:
    """A drawn rationale."""

    item: McqItem
    run: str
    answer: Answer
    text: str

    def token(self, seed: int) -> str:
        """Its blind name."""
        return _token(seed, self.run, self.item.record_key, self.item.variant, self.answer.repeat)


def _token(seed: int, *keys: object) -> str:
    text = "\x1f".join([str(seed), *map(str, keys)])
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def write_sheets(
    runs: Mapping[str, Sequence[Answer]],
    items: Sequence[McqItem],
    plan: SheetPlan,
    judge: CfsJudge,
    out: str | Path,
    *,
    facts: Mapping[str, SceneFacts] | None = None,
    image_root: str = ".",
) -> dict[str, int]:
    """Write one folder an annotator and ``key.json``; all of them or none. Returns how many of each there are.

    Raises
    ------
    BadInput
        If no run has a text about ``items``, a run of ``plan.pairs`` is unknown, or sheets are there already: they may
        be filled in.
    """
    if (Path(out) / "key.json").exists():
        raise BadInput("there are sheets already", path=out, hint="choose another folder")
    texts = _texts(runs, items)
    if not texts:
        raise BadInput("no answers with a text about these questions")
    rng = np.random.default_rng(derive_seed(plan.seed, "sheets"))
    order = rng.permutation(len(texts))[: plan.texts]
    drawn = [texts[int(n)] for n in order]
    pairs = _pairs(texts, plan) if plan.pairs else []
    pictures = Pictures(image_root)
    with atomic_dir(out) as folder:
        for number, annotator in enumerate(ANNOTATORS):
            own = drawn if plan.both else drawn[number :: len(ANNOTATORS)]
            _write_annotator(folder / annotator, own, pairs, plan, pictures)
        write_json(folder / "key.json", _key(drawn, pairs, plan, judge, facts or {}))
    return {"texts": len(drawn), "pairs": len(pairs)}


def _texts(runs: Mapping[str, Sequence[Answer]], items: Sequence[McqItem]) -> list[_Text]:
    known = {(item.record_key, item.variant): item for item in items}
    found = []
    for run, answers in sorted(runs.items()):
        for answer in answers:
            item = known.get((answer.record_key, answer.variant))
            if item is None or answer.turn1 is None:
                continue
            text = normalise(answer.turn1, answer.turn2, keep_decision=True)
            if text:
                found.append(_Text(item, run, answer, text))
    return found


def _pairs(texts: Sequence[_Text], plan: SheetPlan) -> list[tuple[_Text, _Text]]:
    """Two runs' texts about the same question and repeat."""
    assert plan.pairs is not None
    known = {t.run for t in texts}
    for name in plan.pairs:
        if name not in known:
            raise BadInput("no such run with texts", field=name, hint=", ".join(sorted(known)))
    sides: list[dict[tuple[str, str, int], _Text]] = [
        {(t.item.record_key, t.item.variant, t.answer.repeat): t for t in texts if t.run == name}
        for name in plan.pairs
    ]
    common = sorted(sides[0].keys() & sides[1].keys())
    rng = np.random.default_rng(derive_seed(plan.seed, "pairs"))
    chosen = rng.permutation(len(common))[: plan.texts]
    return [(sides[0][common[int(n)]], sides[1][common[int(n)]]) for n in chosen]


def _write_annotator(
    folder: Path,
    texts: Sequence[_Text],
    pairs: Sequence[tuple[_Text, _Text]],
    plan: SheetPlan,
    pictures: Pictures,
) -> None:
    folder.mkdir()
    rng = np.random.default_rng(derive_seed(plan.seed, folder.name))

    def shuffled(count: int) -> list[int]:
        return [int(n) for n in rng.permutation(count)]

    own = [texts[n] for n in shuffled(len(texts))]
    reasons = [_entry(t.token(plan.seed), t.item, [t.text], pictures) for t in own]
    _write(folder, "texts", reasons)
    decided = [t for t in (texts[n] for n in shuffled(len(texts))) if t.answer.decision is not None]
    decisions = [
        _entry(t.token(plan.seed), t.item, [str(t.answer.decision)], pictures, driven=True)
        for t in decided
    ]
    _write(folder, "decisions", decisions)
    if pairs:
        shown = []
        for n in shuffled(len(pairs)):
            token = _pair_token(pairs[n], plan)
            two = _in_order(pairs[n], token, folder.name)
            both = [t.text for t in two]
            shown.append(_entry(token, pairs[n][0].item, both, pictures))
        _write(folder, "pairs", shown)


def _pair_token(pair: tuple[_Text, _Text], plan: SheetPlan) -> str:
    return _token(plan.seed, "pair", *(t.token(plan.seed) for t in pair))


def _in_order(
    pair: tuple[_Text, _Text], token: str, annotator: str
) -> tuple[_Text, _Text] | tuple[_Text, ...]:
    """The two texts in an order that differs by pair and annotator."""
    return pair if swapped(token, annotator) == 0 else pair[::-1]


def swapped(token: str, annotator: str) -> int:
    """1 if the second run's text stands first on the sheet."""
    return derive_seed(0, token, annotator) % 2


def _entry(
    token: str, item: McqItem, texts: list[str], pictures: Pictures, *, driven: bool = False
) -> dict[str, Any]:
    seen = item.observation
    images = shown_images(seen, _VIEWS)
    rows = [
        (f"{t:.1f}", f"{x:.1f}", f"{y:.1f}")
        for t, (x, y) in zip(FUTURE_TIMES, item.waypoints, strict=True)
    ]
    return {
        "item": token,
        "speed": f"{seen.speed:.1f}",
        "command": seen.command.name.lower().replace("_", " "),
        "pictures": [
            {"url": pictures.data_url(i.ref), "name": f"{i.camera}, {i.time:g} s"} for i in images
        ],
        "texts": texts,
        "driven": rows if driven else [],
    }


def _write(folder: Path, name: str, entries: list[dict[str, Any]]) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["item", *COLUMNS[name], "note"])
    writer.writerows([entry["item"], *("" for _ in COLUMNS[name]), ""] for entry in entries)
    (folder / f"{name}.csv").write_text(stream.getvalue(), encoding="utf-8")
    page = _page(title=name.capitalize(), guide=GUIDES[name], entries=entries)
    (folder / f"{name}.html").write_text(page, encoding="utf-8")


def _page(**values: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("sheet.html.j2").render(**values)


def _key(
    texts: Sequence[_Text],
    pairs: Sequence[tuple[_Text, _Text]],
    plan: SheetPlan,
    judge: CfsJudge,
    facts: Mapping[str, SceneFacts],
) -> dict[str, Any]:
    """What the sheets hide: whose text is whose, and what the automatic scores say of it."""
    cases = [CfsCase(t.text, t.item.observation, facts.get(t.item.record_key)) for t in texts]
    named = {}
    for text, judged in zip(texts, judge.judge(cases), strict=True):
        decided = score_decision(text.answer, text.item)
        named[text.token(plan.seed)] = {
            "run": text.run,
            "scene": text.item.scene_key,
            "record_key": text.item.record_key,
            "cfs": judged.value if isinstance(judged, CfsScore) else None,
            "hld": decided.value if decided.valid else None,
        }
    return {
        "version": VERSION,
        "seed": plan.seed,
        "judge": judge.name,
        "texts": named,
        "pairs": {
            _pair_token(pair, plan): {
                "runs": [t.run for t in pair],
                "scene": pair[0].item.scene_key,
            }
            for pair in pairs
        },
    }
