"""Reading params.yaml: one typed section a stage, overlays merged on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from driveproof.config.base import Section, Seed
from driveproof.config.codebook import CodebookParams
from driveproof.config.collect import CollectParams
from driveproof.config.distill import DistillParams
from driveproof.config.drive import DriveParams
from driveproof.config.evaluate import EvaluateParams
from driveproof.config.grpo import GrpoParams
from driveproof.config.humans import HumansParams
from driveproof.config.judge import JudgeEvaluateParams, JudgeParams, JudgeSftParams
from driveproof.config.judge_rl import JudgeRlParams
from driveproof.config.launch import LaunchParams
from driveproof.config.mcq import McqParams
from driveproof.config.promote import PromoteParams
from driveproof.config.publish import PublishParams
from driveproof.config.report import ReportParams
from driveproof.config.rubrics import RubricsParams
from driveproof.config.scenarios import ScenariosParams
from driveproof.config.scenes import ScenesParams
from driveproof.config.sft import SftParams
from driveproof.config.sweep import SweepParams
from driveproof.config.validate import ValidateParams
from driveproof.config.vqa import VqaEvaluateParams, VqaParams, VqaSftParams
from driveproof.errors import BadInput

RESERVED_KEYS = frozenset({"size", "nfiles"})
"""DVC silently ignores a changed parameter with one of these names."""


class Params(Section):
    """All of params.yaml."""

    seed: Seed = 0
    collect: CollectParams = CollectParams()
    scenarios: ScenariosParams = ScenariosParams()
    scenes: ScenesParams = ScenesParams()
    codebook: CodebookParams = CodebookParams()
    sweep: SweepParams = SweepParams()
    mcq: McqParams = McqParams()
    rubrics: RubricsParams = RubricsParams()
    vqa: VqaParams = VqaParams()
    vqa_sft: VqaSftParams = VqaSftParams()
    vqa_evaluate: VqaEvaluateParams = VqaEvaluateParams()
    # ``validate`` is a method of pydantic models, so the attribute has an underscore
    validate_: ValidateParams = Field(default=ValidateParams(), alias="validate")
    sft: SftParams = SftParams()
    grpo: GrpoParams = GrpoParams()
    distill: DistillParams = DistillParams()
    launch: LaunchParams = LaunchParams()
    evaluate: EvaluateParams = EvaluateParams()
    judge: JudgeParams = JudgeParams()
    judge_sft: JudgeSftParams = JudgeSftParams()
    judge_rl: JudgeRlParams = JudgeRlParams()
    judge_evaluate: JudgeEvaluateParams = JudgeEvaluateParams()
    humans: HumansParams = HumansParams()
    drive: DriveParams = DriveParams()
    report: ReportParams = ReportParams()
    publish: PublishParams = PublishParams()
    promote: PromoteParams = PromoteParams()


def load_params(path: str | Path = "params.yaml", overlays: Sequence[str | Path] = ()) -> Params:
    """Read and check the parameters.

    Parameters
    ----------
    path
        The base file.
    overlays
        Files whose keys replace those of the base, in order (``params/gpu.yaml``).

    Raises
    ------
    BadInput
        Naming the file and the key that is unknown, reserved, missing or of the wrong type.
    """
    merged: dict[str, Any] = {}
    for source in (path, *overlays):
        merged = _merge(merged, _read(Path(source)))
    names = ", ".join(str(source) for source in (path, *overlays))
    try:
        return Params.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(first["msg"], path=names, field=field) from None


class _Loader(yaml.SafeLoader):
    """YAML without references, which can nest in themselves, and without keys that come twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("references (*name) are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.YAMLError(f"{key.value} comes twice")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
        return super().construct_mapping(node, deep)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise BadInput("no such parameter file", path=path) from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"not YAML: {str(error).splitlines()[0]}", path=path) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput("expected sections with keys", path=path)
    _refuse_reserved(content, path, "")
    return content


def _refuse_reserved(content: Mapping[Any, Any], path: Path, prefix: str) -> None:
    for key, value in content.items():
        name = f"{prefix}{key}"
        if key in RESERVED_KEYS:
            raise BadInput(
                "reserved name: DVC ignores changes of it", path=path, field=name, hint="rename it"
            )
        if isinstance(value, Mapping):
            _refuse_reserved(value, path, f"{name}.")


def _merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged
