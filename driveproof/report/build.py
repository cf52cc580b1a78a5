"""Putting the report together."""

from __future__ import annotations

from pathlib import Path

from driveproof.config.report import ReportParams
from driveproof.files import atomic_open
from driveproof.report.data_sections import (
    codebook_section,
    data_section,
    gate_section,
    mcq_section,
)
from driveproof.report.drive_section import drive_section
from driveproof.report.example import make_example
from driveproof.report.grpo_section import grpo_section
from driveproof.report.inputs import read_inputs
from driveproof.report.judge_sections import humans_section, judge_section
from driveproof.report.model_sections import evaluation_section, training_section
from driveproof.report.scenario_section import scenarios_section
from driveproof.report.vqa_section import vqa_section
from driveproof.validation.page import render_page

REPORT = Path("reports/index.html")


def build_report(params: ReportParams, seed: int, root: str | Path = ".") -> Path:
    """Write ``reports/index.html`` below ``root`` from what is there; return its path.

    The file is self-contained and holds no time, commit or path of this machine: the same results give the
    same bytes. Chapters whose stage has not run say so.

    Raises
    ------
    BadInput
        If a result file is there and broken.
    """
    inputs = read_inputs(root)
    sections = (
        data_section(inputs),
        gate_section(inputs),
        codebook_section(inputs),
        mcq_section(inputs),
        training_section(inputs),
        evaluation_section(inputs),
        grpo_section(inputs),
        vqa_section(inputs),
        scenarios_section(inputs),
        drive_section(inputs),
        judge_section(inputs),
        humans_section(inputs),
    )
    page = render_page(
        "report",
        "index.html.j2",
        sections=sections,
        example=make_example(inputs, params),
        seed=seed,
        identities=_identities(inputs.codebook, inputs.evaluation),
    )
    target = Path(root) / REPORT
    with atomic_open(target) as stream:
        stream.write(page)
    return target


def _identities(
    codebook: dict[str, object] | None, evaluation: dict[str, object] | None
) -> list[tuple[str, str]]:
    """What results depend on, by the digests that stages recorded."""
    found = [
        ("trajectories of the codebook, SHA-256", (codebook or {}).get("data_sha256")),
        ("prompt hash", (evaluation or {}).get("prompt_hash")),
        ("model revision", (evaluation or {}).get("model_revision")),
    ]
    return [(name, str(value)) for name, value in found if value]
