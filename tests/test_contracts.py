"""The promises that hold the house together: stages, parameters, names, layers, README and CI."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest
import yaml

from driveproof.config import Params, load_params
from driveproof.config.params import RESERVED_KEYS

# The room that does the work of a stage, where it is not the stage's own name.
ROOM = {
    "scenarios": "sim/scenarios",
    "scenes": "scene",
    "sweep": "codebook",
    "validate": "validation",
    "sft": "training",
    "grpo": "training/grpo",
    "evaluate": "evaluation",
    "judge_sft": "training",
    "judge_rl": "training",
    "judge_evaluate": "evaluation",
    "humans": "evaluation",
    "vqa": "commenter",
    "rubrics": "rewards",
    "vqa_sft": "training",
    "vqa_evaluate": "evaluation",
}
# Where a stage writes, where it is not a folder of its own name.
OUTS = {"collect": {"data/raw"}, "report": {"reports/index.html"}}
PYTHON = "python -m stages."


@pytest.fixture(scope="module")
def pipeline(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "dvc.yaml").read_text())["stages"]


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("driveproof", "stages", "flows", cache_dir=None)


def names(entries: list[Any]) -> list[str]:
    """The paths or keys of a dvc.yaml list, whose entries may carry options."""
    return [next(iter(entry)) if isinstance(entry, dict) else entry for entry in entries]


def module_file(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.slow
def test_every_stage_depends_on_all_the_code_it_runs(root, pipeline, imports) -> None:
    for name, stage in pipeline.items():
        module = f"stages.{name}"
        closure = {module, *imports.find_upstream_modules(module)}
        deps = [root / dep for dep in names(stage["deps"])]
        missing = sorted(
            str(file.relative_to(root))
            for file in (module_file(root, m) for m in closure)
            if not any(file == dep or dep in file.parents for dep in deps)
            and file.read_text().strip()
        )
        assert not missing, f"stage {name}: deps lack {missing}"


def test_every_stage_has_one_word(root, pipeline) -> None:
    sections = {field.alias or name for name, field in Params.model_fields.items()}
    assert {path.stem for path in (root / "stages").glob("[a-z]*.py")} == set(pipeline)
    for name, stage in pipeline.items():
        # a stage of several variants is told which one, and keeps it apart from the others
        told = [f" ${{item.{key}}}" for key in stage.get("matrix", {})]
        assert stage["cmd"] == f"{PYTHON}{name}{''.join(told)}"
        assert all(key.strip() in out for key in told for out in names(stage["outs"]))
        assert name in sections, f"params.yaml has no section for stage {name}"
        assert name in names(stage.get("params", [])), f"stage {name} does not watch its section"
        assert (root / "driveproof" / ROOM.get(name, name)).is_dir()
        folders = OUTS.get(name, {f"{top}/{name}" for top in ("data", "models", "reports")})
        for out in names(stage.get("outs", [])) + names(stage.get("metrics", [])):
            assert any(out == f or out.startswith(f"{f}/") for f in folders), (name, out)


def test_the_variants_that_grpo_builds_are_in_its_section(root, pipeline) -> None:
    variants = load_params(root / "params.yaml").grpo.variants
    built = pipeline["grpo"]["matrix"]["variant"]
    assert set(built) <= set(variants)
    assert len(built) == len(set(built))


def test_the_report_depends_on_every_folder_it_reads(root, pipeline) -> None:
    deps = set(names(pipeline["report"]["deps"]))
    for path in (root / "driveproof" / "report").rglob("*.py"):
        read = set(re.findall(r'"((?:data|models|reports)/[a-z_]+)', path.read_text()))
        missing = read - deps - {"reports/index", "data/maps"}
        assert not missing, (
            f"{path.name} reads {missing}, which the stage report does not depend on"
        )


def test_stages_watch_only_sections_that_they_read(root, pipeline) -> None:
    for name, stage in pipeline.items():
        source = (root / "stages" / f"{name}.py").read_text()
        for key in names(stage.get("params", [])):
            attribute = "validate_" if key == "validate" else key
            assert re.search(rf"params\.{attribute}\b", source), f"stage {name} watches {key}"
        read = set(re.findall(r"\bparams\.([a-z_]+)", source)) - {"yaml"}
        watched = {("validate_" if k == "validate" else k) for k in names(stage["params"])}
        assert read <= watched, f"stage {name} reads {read - watched} without watching it"


def leaves(model: type, prefix: str = "") -> list[tuple[str, str]]:
    found = []
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
            found.append((f"{prefix}{name}", name))
            found += leaves(annotation, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", name))
    return found


@pytest.mark.slow
def test_every_parameter_is_read_somewhere_and_none_has_a_reserved_name(root) -> None:
    files = [*root.glob("driveproof/**/*.py"), *root.glob("stages/*.py")]
    code = "\n".join(f.read_text() for f in files if f.parent.name != "config")
    for path, name in leaves(Params):
        assert name not in RESERVED_KEYS, path
        assert re.search(rf"\.{name}\b", code), f"nothing reads {path}"


def test_stages_are_short(root) -> None:
    for path in (root / "stages").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 60, path.name


def test_modules_stay_rooms(root) -> None:
    for path in root.glob("driveproof/**/*.py"):
        if not path.name.endswith("_pb2.py"):
            assert len(path.read_text().splitlines()) <= 500, path


@pytest.mark.slow
def test_layers_hold(root) -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_readme_commands_are_the_ones_ci_runs(root) -> None:
    readme = (root / "README.md").read_text()
    ci = (root / ".ci" / "run").read_text()
    for command in ("make test", "make repro"):
        assert re.search(rf"^{command}$", readme, re.M), command
    assert re.search(r"^make test$", ci, re.M)
    repro = re.search(r"^repro:.*\n(\t.*\n)+", (root / "Makefile").read_text(), re.M)
    assert repro is not None
    assert "dvc repro" in repro.group(0)
    assert re.search(r"^dvc repro$", ci, re.M)
    assert re.search(r"validate gate", ci)


def test_nothing_names_a_package_registry_or_an_absolute_home(root) -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    pattern = re.compile(
        "|".join(["py" + r"pi\.org", "python" + r"hosted", "/ho" + "me/", "/ro" + "ot/"])
    )
    for name in tracked:
        path = root / name
        if path.suffix in {".py", ".md", ".yaml", ".toml", ".lock", ".cfg", ""} and path.is_file():
            assert not pattern.search(path.read_text(errors="ignore")), name


@pytest.mark.slow
def test_import_does_no_work(root) -> None:
    """`driveproof --version` must not pay for torch, mlflow and the like."""
    probe = (
        "import sys, driveproof.cli.app as a; a._assemble(); "
        "heavy = {'torch','transformers','mlflow','prefect','great_expectations','trl','matplotlib','datasets'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
