"""Chapters about the judge: the benches in the papers' layout beside the papers' numbers, and what humans break."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.report.figures import panels
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table, estimate, number, percent

# DriveJudge, tables 1 to 3: measured on human labels of real clips, which are other data than ours.
PAPER_TABLE_1 = {
    "Random": (50.00, 50.00, 50.00, 50.00, 23.3, 76.7),
    "EPDMS": (66.94, 54.76, 43.95, 57.67, 26.34, 81.64),
    "Gemini3.1": (65.73, 65.69, 65.26, 56.61, 26.29, 79.62),
    "GPT-5.4": (76.71, 76.59, 72.48, 48.59, 23.65, 76.89),
    "Supervised classifier": (77.01, 73.59, 33.51, 58.39, 33.28, 80.49),
    "DriveJudge-2B": (80.97, 83.28, 83.74, 77.95, 58.31, 89.83),
    "DriveJudge-8B": (80.89, 83.47, 84.03, 78.90, 59.04, 90.77),
}
PAPER_TABLE_2 = {
    "Random": 50.00,
    "ADE/FDE": 70.53,
    "EPDMS": 56.50,
    "GPT-5": 55.20,
    "Gemini3.1": 55.45,
    "Supervised classifier": 64.80,
    "DriveCritic": 76.33,
    "DriveJudge-2B": 80.63,
    "DriveJudge-8B": 82.83,
}
PAPER_TABLE_3 = {
    "VLM-DirectScore": (True, False, False, 50.06),
    "DriveJudge-ZeroShot": (True, True, False, 56.13),
    "Non-VLM": (False, False, True, 58.39),
    "Non-VLM-Agent": (False, True, True, 55.11),
    "VLM-DirectScore-Ft": (True, False, True, 68.67),
    "DriveJudge": (True, True, True, 77.95),
}
# DriveJudge, figure 6 and section 5.3: preference selection of DriveJudge-2B before and after reinforcement.
PAPER_RL = {"SFT": (58.82, 80.63), "zero-shot": (56.38, 56.50)}
_STARTS = {"sft": "SFT", "zero_shot": "zero-shot"}
_GAINS = {
    "strict": "preference, contested",
    "half": "the same, half credit",
    "half_all": "preference, all, half credit",
    "auc": "AUC, mined",
    "auc_all": "AUC, all",
    "perfect": "perfect match, mined",
}
_PAPER = "Paper (other data)"
_OTHER = (
    "Rows of the paper are its own numbers, in percent, on human labels of real clips and preferences of DriveCritic: other "
    "data, so they show the layout and the order, and cannot be compared with ours."
)
_OURS = (
    "Ours: scripted labels, known by construction; 95 % bootstrap intervals over places, fixed seed; lost is what a method "
    "left unscored."
)


def judge_section(inputs: Inputs) -> Section:
    """Tables 1 to 3, gates, thresholds, kinds of behaviour, and drawn verdicts."""
    anchor, title = "judge", "Judge"
    results = _object(inputs.root / "reports/judge_evaluate/summary.json")
    if results is None:
        return Section(anchor, title, missing="judge_evaluate")
    counts, settings = results["counts"], results["settings"]
    sources = ", ".join(f"{number(n)} {name}" for name, n in results["label_sources"].items())
    intro = (
        f"{number(counts['test_clips'])} test clips at {number(counts['places'])} places that training did not see, "
        f"{number(counts['mined_clips'])} of them with a rule below its threshold (mined, as the paper does), and "
        f"{number(counts['pairs'])} pairs, {number(counts['contested_pairs'])} of them contested: the preferred trajectory "
        f"scores low on a rule. Labels: {sources}. Nobody looked at scripted clips: whether driving is "
        f"reasonable follows from the script. Question {settings['judge_hash'][:12]}, seed {settings['seed']}."
    )
    tables = (
        _quality_table(results),
        _quality_table(results, "quality_all", "Driving quality classification, all test clips"),
        _selection_table(results),
        _selection_table(
            results, "selection_all", "Trajectory preference selection, all test pairs"
        ),
        _ablation_table(results),
        _perfect_table(results),
        _sweep_table(results["sweep"]),
        _counts_table(results),
        *_reinforced_tables(inputs),
        *_data_tables(inputs),
        *_kind_tables(results),
    )
    folder = inputs.root / "reports/judge_evaluate"
    figures = tuple(
        (_image(folder / drawn["file"]), f"One verdict explained: {drawn['clip']}")
        for drawn in results.get("drawings", [])
        if (folder / drawn["file"]).is_file()
    )
    return Section(anchor, title, intro, tables, (*figures, *_reward_curves(inputs)))


def _quality_table(
    results: Mapping[str, Any],
    part: str = "quality",
    caption: str = "Driving quality classification (the paper's table 1), mined clips",
) -> Table:
    """Accuracy at three cuts, AUC, AP-, AP+."""
    found = _in_order(results, part)
    first: Mapping[str, Any] = next(iter(found.values()), {})
    accuracies = sorted(name for name in first if name.startswith("ACC@"))
    measures = [*accuracies, "AUC", "AP-", "AP+"] if first else []
    tuned = {method["name"]: method["tuned"] for method in results["methods"]}
    rows = [
        (name, _mark(tuned.get(name)), *(estimate(values[m]) for m in measures))
        for name, values in found.items()
    ]
    rows.insert(1, ("ADE/FDE", _mark(False), *("n/a" for _ in measures)))
    if part == "quality":
        rows += [
            (
                f"{_PAPER}: {name}",
                _mark("DriveJudge" in name or "Supervised" in name),
                *map(_percent, values),
            )
            for name, values in PAPER_TABLE_1.items()
        ]
    return Table(caption, ("method", "tuned", *measures), tuple(rows), 2, f"{_OURS} {_OTHER}")


def _selection_table(
    results: Mapping[str, Any],
    part: str = "selection",
    caption: str = "Trajectory preference selection (the paper's table 2), contested pairs",
) -> Table:
    """Strict, half credit, ties; contested are pairs whose preferred trajectory scores low on a rule."""
    rows = [
        (name, *(estimate(values[m]) for m in ("strict", "half", "ties")))
        for name, values in _in_order(results, part).items()
    ]
    if part == "selection":
        rows += [
            (f"{_PAPER}: {name}", _percent(value), MISSING, MISSING)
            for name, value in PAPER_TABLE_2.items()
        ]
    note = (
        "strict: ties and unscored pairs count as wrong; half: ties count half, unscored pairs are lost. Scripted pairs have "
        f"no human demonstration: ADE and FDE measure the distance to a PDM-style planner. {_OTHER}"
    )
    head = ("method", "strict", "half credit", "ties")
    return Table(caption, head, tuple(rows), 1, note)


def _ablation_table(results: Mapping[str, Any]) -> Table:
    """Table 3: what of VLM, tools and tuning a method has, and its AUC."""
    rows = [
        (
            method["name"],
            *(_mark(method[key]) for key in ("vlm", "tools", "tuned")),
            estimate(results["quality"][method["name"]]["AUC"]),
        )
        for method in results["methods"]
        if method["name"] in results["quality"] and (method["vlm"] or method["tuned"])
    ]
    rows += [
        (f"{_PAPER}: {name}", *map(_mark, (vlm, tool, tuned)), _percent(value))
        for name, (vlm, tool, tuned, value) in PAPER_TABLE_3.items()
    ]
    head = ("method", "VLM", "tool", "FT", "AUC")
    return Table("Ablation (the paper's table 3), mined clips", head, tuple(rows), 4, _OTHER)


def _perfect_table(results: Mapping[str, Any]) -> Table:
    found = _in_order(results, "perfect_match")
    rows = tuple((name, estimate(value)) for name, value in found.items())
    note = "All seven gates as the labels imply them (equation 10); the paper reports close to 90 % on its data."
    return Table("Perfect-match rate of gates, mined clips", ("method", "rate"), rows, 1, note)


def _sweep_table(sweep: Mapping[str, Any]) -> Table:
    rows = []
    for code, value in sweep["thresholds"].items():
        levels = sweep["levels"][code]
        shown = (
            f"{levels['count']} from {number(levels['least'])} to {number(levels['greatest'])}"
            if isinstance(levels, Mapping)
            else ", ".join(f"{level:g}" for level in levels) or "none"
        )
        rows.append((code, f"{value:g}", "yes" if sweep["matters"][code] else "no", shown))
    head = ("criterion", "best", "can matter", "values below 1 in reasonable clips")
    note = (
        f"Equation 13 on the {number(sweep['clips'])} train clips: accuracy {percent(sweep['accuracy'])} at {sweep['cut']:g}. "
        "Most rules are kept or broken, so that any threshold waives the same; a threshold can matter only where reasonable "
        "driving takes values between 0 and 1."
    )
    return Table("Violation thresholds", head, tuple(rows), 4, note)


def _counts_table(results: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            method["name"],
            number(method["counts"].get("asked")),
            _counted(method["counts"].get("invalid")),
            _counted(method["counts"].get("lost")),
        )
        for method in results["methods"]
        if method["counts"]
    )
    return Table("What models answered", ("method", "asked", "invalid", "lost"), rows)


def _reinforced_tables(inputs: Inputs) -> list[Table]:
    """What GRPO on preferences was worth from each start; nothing where the stage judge_rl has not run."""
    made = _object(inputs.root / "reports/judge_rl/summary.json")
    if made is None:
        return []
    rows = []
    for key, found in made["starts"].items():
        for when in ("before", "after", "gain"):
            values = (estimate(found[when][figure]) for figure in _GAINS)
            unreadable = _counted(found["counts"].get(when, {}).get("invalid"))
            rows.append((_STARTS[key], when, *values, MISSING if when == "gain" else unreadable))
    rest = (MISSING,) * len(_GAINS)
    for start, (before, after) in PAPER_RL.items():
        rows.append((f"{_PAPER}: {start}", "before", _percent(before), *rest))
        rows.append((f"{_PAPER}: {start}", "after", _percent(after), *rest))
    settings = made["settings"]
    better = [_STARTS[key] for key, found in made["starts"].items() if found["improved"]]
    note = (
        f"GRPO on {number(made['train_pairs'])} pairs of the train places, {settings['steps']} steps of "
        f"{settings['questions']} clips and {settings['group']} rollouts each, gates ranked against "
        f"{settings['pairing']} of the other clip. The zero-shot start knows the form of an answer alone. Preference counts "
        "ties and unscored pairs as wrong where no half credit is given. Gains are clip by clip and pair by pair, with 95 % "
        "intervals over places; surely better than before at contested pairs (interval above zero): "
        f"{', '.join(better) or 'neither start'}. {_OTHER}"
    )
    head = ("start", "", *_GAINS.values(), "unreadable")
    return [Table("Reinforced judge (the paper's figure 6)", head, tuple(rows), 2, note)]


def _reward_curves(inputs: Inputs) -> list[tuple[str, str]]:
    """Rewards and unreadable answers by step, as the paper's figure 10 shows rewards."""
    curves = _object(inputs.root / "reports/judge_rl/curves.json")
    if curves is None:
        return []
    drawn = {
        f"{_STARTS[key]}: {name}": ([row["step"] for row in rows], [row[name] for row in rows])
        for key, rows in curves.items()
        for name in ("reward", "invalid")
    }
    caption = "Reinforced judge: reward and share of unreadable answers by step, on train pairs."
    return [(panels(drawn), caption)]


def _data_tables(inputs: Inputs) -> list[Table]:
    """Breaches by label: the same breach is reasonable here and unreasonable there."""
    stats = _object(inputs.root / "data/judge/stats.json")
    if stats is None:
        return []
    rows = tuple(
        (code, *(number(labels.get(key, 0)) for key in ("reasonable", "unreasonable")))
        for code, labels in stats["breaches"].items()
    )
    head = ("rule below its threshold in", "reasonable clips", "unreasonable clips")
    note = "Where both columns are large, the rule alone cannot tell them apart."
    return [Table("Breaches in the scripted clips, all splits", head, rows, 1, note)]


def _kind_tables(results: Mapping[str, Any]) -> list[Table]:
    """Mean score by kind of behaviour: EPDMS beside the last judge."""
    found = _in_order(results, "kinds")
    names = [name for name in found if name.startswith(("EPDMS", "DriveJudge"))]
    if not names:
        return []
    kinds = results["kinds"][names[0]]
    rows = tuple(
        (
            kind,
            number(kinds[kind]["n"]),
            *(
                f"{number(results['kinds'][name][kind]['mean'], 2)} ({percent(results['kinds'][name][kind]['right'], 0)})"
                for name in names
            ),
        )
        for kind in kinds
    )
    note = "Mean score, and the share classified right at the middle cut."
    return [Table("By kind of behaviour", ("kind", "clips", *names), rows, 1, note)]


def humans_section(inputs: Inputs) -> Section:
    """What human drivers break on real scenes, from what the stage humans left, or why there is nothing."""
    anchor, title = "humans", "What humans break on real scenes"
    made = _object(inputs.root / "reports/humans/summary.json")
    if made is None:
        return Section(anchor, title, missing="humans")
    skipped = "; ".join(f"{name}: {why}" for name, why in made["skipped"].items())
    if not made["logs"]:
        why = (
            "No real logs were scored: their licences do not let them travel with this repository. Name those you have in the "
            f"section humans of params.yaml (params/real.yaml is an example). {skipped}"
        )
        return Section(anchor, title, why)
    folders = [inputs.root / "reports/humans" / name / "summary.json" for name in made["logs"]]
    found = {path.parent.name: _object(path) or {} for path in folders}
    codes = list(dict.fromkeys(code for each in found.values() for code in each["broken_rate"]))
    rows = tuple(
        (
            name,
            number(each["moments"]),
            *(estimate(each["broken_rate"].get(code), 2) for code in codes),
            estimate(each["mean"].get("EPDMS_judged"), 2),
        )
        for name, each in found.items()
    )
    note = (
        "Share of judged moments at which the logged driver earns less than 1, with intervals over drives; the last column is "
        "EPDMS over the rules that could be judged."
    )
    head = ("logs", "moments", *codes, "EPDMS over judged rules")
    tables = [Table("Rules that human drivers break", head, rows, 1, note)]
    tables += [_why(found)]
    figures = []
    for path, (name, each) in zip(folders, found.items(), strict=True):
        for drawn in each.get("drawings", []):
            picture = path.parent / drawn["file"]
            if picture.is_file():
                broken = ", ".join(drawn["broken"])
                figures.append((_image(picture), f"{name}: {drawn['record_key']} breaks {broken}"))
    intro = "The driver of real logs as the proposal; the same rules as everywhere."
    intro += f" Skipped: {skipped}." if skipped else ""
    return Section(anchor, title, intro, tuple(tables), tuple(figures))


def _why(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """What could not be judged, and what had to be assumed."""
    rows = tuple(
        (name, kind, reason, number(count))
        for name, each in found.items()
        for kind, key in (("unjudged", "unjudged"), ("assumed", "notes"), ("rejected", "rejected"))
        for reason, count in each.get(key, {}).items()
    )
    return Table("Unjudged, assumed, rejected", ("logs", "", "what", "moments"), rows, 3)


def _in_order(results: Mapping[str, Any], part: str) -> dict[str, Any]:
    """A part of the results by method, in the order of the methods."""
    names = [method["name"] for method in results["methods"]]
    return {name: results[part][name] for name in names if name in results[part]}


def _object(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected a JSON object", path=path)
    return content


def _image(path: Path) -> str:
    """A drawing as an inline image."""
    if path.suffix == ".svg":
        return path.read_text(encoding="utf-8")
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="" style="max-width:100%" src="data:image/png;base64,{data}">'


def _mark(value: Any) -> str:
    return "yes" if value else "no"


def _percent(value: float) -> str:
    return f"{value:.2f} %"


def _counted(counts: Mapping[str, int] | None) -> str:
    if not counts:
        return "0"
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())
