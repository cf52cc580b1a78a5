"""Chapters about data: drives and moments, the codebook and its sweeps, the questions, the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from driveproof.codebook.paper import TABLE_10
from driveproof.codebook.sweep import fit_power_law
from driveproof.errors import UserError
from driveproof.report.figures import error_curves
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table, counts, grid, number, percent, texts
from driveproof.scene import read_columns

SPLITS = ("train", "dev", "test")


def data_section(inputs: Inputs) -> Section:
    """Drives, moments kept and rejected, splits."""
    anchor, title = "data", "Data"
    scenes = inputs.scenes
    if scenes is None:
        return Section(anchor, title, missing="scenes")
    logs: Sequence[Mapping[str, Any]] = scenes.get("logs", [])
    rejected: dict[str, int] = scenes.get("rejected", {})
    kept = int(scenes.get("kept", 0))
    intro = (
        f"{len(logs):,} drives in {scenes.get('format', 'an unknown')} format gave {kept:,} moments of "
        f"decision; {sum(rejected.values()):,} moments were rejected, {len(scenes.get('bad', []))} files "
        "could not be read."
    )
    tables = [counts("Moments rejected, by reason", "reason", rejected)] if rejected else []
    splits = inputs.splits or {}
    moments: Counter[str] = Counter()
    for log in logs:
        moments[splits.get(log["scene_key"], "none")] += log["kept"]
    drives = Counter(splits.values())
    rows = [(name, drives[name], moments[name]) for name in SPLITS]
    tables.append(
        Table("Splits; no drive is in two of them", ("split", "drives", "moments"), texts(rows))
    )
    tables += _situations(inputs)
    bad = [(entry["path"], entry["problem"]) for entry in scenes.get("bad", [])]
    if bad:
        tables.append(Table("Files left out", ("file", "problem"), texts(bad), texts=2))
    return Section(anchor, title, intro, tuple(tables))


def _situations(inputs: Inputs) -> list[Table]:
    """Drives and moments by what the drive was recorded for."""
    try:
        columns = read_columns(inputs.root / "data/scenes", ["scene_key", "situation"]).to_pydict()
    except UserError:
        return []  # the gate says what is wrong with the table
    moments = Counter(columns["situation"])
    pairs = set(zip(columns["scene_key"], columns["situation"], strict=True))
    drives = Counter(situation for _, situation in pairs)
    rows = [(name or "(none)", drives[name], moments[name]) for name in sorted(drives)]
    return [Table("Situations", ("situation", "drives", "moments"), texts(rows))]


_SWEEP_HEAD = ("", "codes", "trajectories", "runs", *(f"{place} {what}" for what in ("ADE", "FDE") for place in ("in", "out", "cross")), "in util.", "out util.")  # fmt: skip


def codebook_section(inputs: Inputs) -> Section:
    """The codebook in use, and tables 5 and 6 beside the paper's."""
    anchor, title = "codebook", "Codebook"
    if inputs.codebook is None and inputs.sweep is None:
        return Section(anchor, title, missing="codebook")
    tables, figures = [], []
    if inputs.codebook is not None:
        tables.append(_codebook_table(inputs.codebook))
    if inputs.sweep is not None:
        sweep = inputs.sweep
        tables += [_resolution_table(sweep), _scale_table(sweep), _law_table(sweep)]
        figures = _sweep_figures(sweep)
    return Section(
        anchor,
        title,
        "Prototypes of 5 s trajectories found by k-means. Errors in metres: in = fitted trajectories, out = "
        "held-out drives, cross = another source. Utilisation is the share of prototypes in use.",
        tuple(tables),
        tuple(figures),
    )


def _codebook_table(metrics: Mapping[str, Any]) -> Table:
    rows = []
    for place in ("in", "out"):
        found = metrics.get(place)
        if found:
            ade, fde = found["ade"], found["fde"]
            figures = [tail[key] for tail in (ade, fde) for key in ("mean", "p50", "p95", "p99")]
            use = percent(found["utilisation"])
            rows.append((place, number(found["n"]), *(number(x) for x in figures), use))
    names = [f"{what} {key}" for what in ("ADE", "FDE") for key in ("mean", "p50", "p95", "p99")]
    caption = (
        f"The codebook in use: {number(metrics['n_codes'])} codes, "
        f"{number(metrics['trajectories_per_code'], 1)} trajectories a code"
    )
    return Table(caption, ("", "n", *names, "utilisation"), tuple(rows))


def _resolution_table(sweep: Mapping[str, Any]) -> Table:
    rows = [_sweep_row("ours", row) for row in sweep["resolution"]]
    rows += [
        _sweep_row("paper", {"n_fit": 489_042, "runs": 3, **row})
        for row in sweep["paper"]["table_5"]
    ]
    skipped = sweep.get("skipped") or []
    note = (
        f"Left out for lack of trajectories: {', '.join(map(str, skipped))} codes."
        if skipped
        else ""
    )
    recommended = sweep.get("recommended_n_codes")
    if recommended:
        note = f"Largest size that our data support: {recommended:,} codes. {note}".strip()
    caption = "Resolution sweep, DEFT-RLVR's table 5"
    return Table(caption, _SWEEP_HEAD, tuple(rows), note=note)


def _scale_table(sweep: Mapping[str, Any]) -> Table:
    rows = [_sweep_row("ours", row) for row in sweep["scale"]]
    rows += [_sweep_row("paper", {"runs": 3, **row}) for row in sweep["paper"]["table_6"]]
    return Table("Data-scale sweep, DEFT-RLVR's table 6", _SWEEP_HEAD, tuple(rows))


def _sweep_row(who: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    def error(key: str) -> str:
        spread = row.get(f"{key}_sd")
        return number(row.get(key)) + (f" ± {spread:.3f}" if spread is not None else "")

    errors = [error(f"{p}_{what}") for what in ("ade", "fde") for p in ("in", "out", "cross")]
    uses = [percent(row.get(f"{place}_utilisation")) for place in ("in", "out")]
    fit = (number(row["n_codes"]), number(row["n_fit"]), number(row.get("runs")))
    return (who, *fit, *errors, *uses)


def _law_table(sweep: Mapping[str, Any]) -> Table:
    rows = []
    paper = sweep["paper"]["table_5"]
    sizes = [row["n_codes"] for row in paper]
    for place in ("in", "out"):
        ours = sweep["power_law"].get(place)
        if ours:
            rows.append(
                (f"ours, {place}", *(number(float(ours[k]), 3) for k in ("exponent", "r2")))
            )
        law = fit_power_law(sizes, [row[f"{place}_ade"] for row in paper])
        if law is not None:
            rows.append((f"paper, {place}", number(law.exponent), number(law.r2)))
    caption = "Power law: ADE falls as codes to the power of minus the exponent"
    return Table(caption, ("", "exponent", "R² (log-log)"), tuple(rows))


def _sweep_figures(sweep: Mapping[str, Any]) -> list[tuple[str, str]]:
    paper = sweep["paper"]
    resolution: dict[str, tuple[list[float], list[float]]] = {}
    for who, rows in (("ours", sweep["resolution"]), ("paper", paper["table_5"])):
        for place in ("in", "out"):
            points = [(r["n_codes"], r[f"{place}_ade"]) for r in rows if r.get(f"{place}_ade")]
            resolution[f"{who}, {place}"] = ([x for x, _ in points], [y for _, y in points])
    scale: dict[str, tuple[list[float], list[float]]] = {}
    for who, rows in (("ours", sweep["scale"]), ("paper", paper["table_6"])):
        for codes in sorted({row["n_codes"] for row in rows}):
            chosen = [row for row in rows if row["n_codes"] == codes]
            scale[f"{who}, {codes:,} codes, out"] = (
                [row["n_fit"] for row in chosen],
                [row["out_ade"] for row in chosen],
            )
    return [
        (error_curves(resolution, "codes"), "Error over the number of codes (table 5)."),
        (error_curves(scale, "fitted trajectories"), "Held-out error over data (table 6)."),
    ]


def mcq_section(inputs: Inputs) -> Section:
    """The questions: how many of what, and whether right and wrong options are apart."""
    anchor, title = "mcq", "Questions (AD-MCQ)"
    stats = inputs.mcq
    if stats is None:
        return Section(anchor, title, missing="mcq")
    splits = {name: stats["splits"][name] for name in SPLITS if name in stats["splits"]}
    rows = [
        (name, split["scenes"], split["items"], sum(split["rejected"].values()), split["drives"])
        for name, split in splits.items()
    ]
    head = ("split", "scenes", "questions", "left out", "drives")
    tables = [Table("Questions; scenes = questions + left out", head, texts(rows))]
    tables.append(_pivot("Questions by class", "class", splits, "classes"))
    tables.append(_pivot("Scenes left out, by reason", "reason", splits, "rejected"))
    tables.append(
        _pivot("Place of the oracle among the options", "place", splits, "oracle_positions")
    )
    tables += [_separation_table(stats, name) for name in splits if splits[name]["items"]]
    of_grid = stats.get("grid") or {}
    if of_grid.get("cells"):
        left = sum((of_grid.get("rejected") or {}).values())
        note = f"{left:,} records that some cell cannot serve are left out of all cells."
        cells = {name: number(count) for name, count in of_grid["cells"].items()}
        tables.append(grid("Difficulty grid: questions of each cell", cells, note))
    intro = "Candidate trajectories, one of which is the quantised logged future."
    return Section(anchor, title, intro, tuple(tables))


def _pivot(caption: str, of: str, splits: Mapping[str, Any], key: str) -> Table:
    names = sorted({name for split in splits.values() for name in split[key]})
    rows = [(name, *(split[key].get(name, 0) for split in splits.values())) for name in names]
    return Table(caption, (of, *splits), texts(rows))


def _separation_table(stats: Mapping[str, Any], split: str) -> Table:
    columns = ("mean", "p50", "p75", "p90", "p95")
    ours = stats["splits"][split]["separation"]
    rows: list[tuple[str, ...]] = []
    for name in TABLE_10:
        paper = stats["paper"]["table_10"][name]
        mine = ours[name]
        title = name.replace("_", " ").replace("ade", "ADE, m").replace("fde", "FDE, m")
        title = title.replace("ADE, m percent of path", "ADE, % of path")
        rows.append((f"{title}: ours", number(mine["n"]), *(number(mine[c], 2) for c in columns)))
        rows.append((f"{title}: paper", "500", *(number(paper[c], 2) for c in columns)))
    note = (
        f"The nearest distractor is farther from the log than the oracle in "
        f"{percent(ours['nearest_farther_than_oracle'])} of {ours['n']:,} questions "
        f"(median gap {number(ours['median_gap'], 2)} m)."
    )
    caption = f"Oracle fidelity and separation in {split}, DEFT-RLVR's table 10 (AD-MCQ-500)"
    return Table(caption, ("", "n", *columns), tuple(rows), note=note)


def gate_section(inputs: Inputs) -> Section:
    """What the data gate said."""
    anchor, title = "gate", "Data gate"
    if inputs.validation is None:
        return Section(anchor, title, missing="validate")
    rows, broken = [], []
    for table in inputs.validation["tables"]:
        failed = [check for check in table["checks"] if not check["success"]]
        total = len(table["checks"])
        rows.append((table["table"], table["rows"], total, total - len(failed), len(failed)))
        for check in failed:
            example = next(iter(check["examples"]), check["observed"] or MISSING)
            broken.append((f"{table['table']}/{check['name']}", check["says"], example))
    head = ("table", "rows", "expectations", "hold", "fail")
    tables = [Table("Expectations by table", head, texts(rows))]
    if broken:
        names = ("expectation", "meaning", "example")
        tables.append(Table("Expectations that fail", names, texts(broken), texts=3))
    state = "open" if inputs.validation["success"] else "closed"
    intro = f"The gate is {state}. Details: validate/index.html beside this file."
    return Section(anchor, title, intro, tuple(tables))
