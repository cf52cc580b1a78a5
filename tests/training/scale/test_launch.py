"""The commands of spread training, and the checks before anything is started."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from driveproof.config import Params, load_params
from driveproof.config.overlay import apply_overlay
from driveproof.errors import BadInput
from driveproof.training.dimensions import KNOWN
from driveproof.training.launch import Plan, _picture_tokens, plan
from driveproof.training.single import check_single
from driveproof.training.worker import Job, read_job


@pytest.fixture
def gpu(root: Path) -> Params:
    return load_params(root / "params.yaml", [root / "params" / "gpu.yaml"])


def changed(params: Params, section: str, **values: Any) -> Params:
    """Parameters with other values, checked."""
    content = params.model_dump(mode="json", by_alias=True)
    content[section] |= values
    return Params.model_validate(content)


def planned(params: Params, kind: str, variant: str = "") -> Plan:
    return plan(params, kind, Job(kind=kind, variant=variant))  # type: ignore[arg-type]


def test_the_papers_settings_can_be_applied(root: Path, tmp_path: Path) -> None:
    base = tmp_path / "params.yaml"
    shutil.copy(root / "params.yaml", base)
    apply_overlay(base, root / "params" / "gpu.yaml")
    params = load_params(base)
    assert params.launch.zero == 3
    assert params.grpo.start == params.sft.base == "models/base/Qwen3-VL-8B-Instruct"


@pytest.mark.parametrize("kind", ["sft", "grpo"])
@pytest.mark.parametrize("nodes", [1, 4])
def test_each_node_has_its_command_and_the_batch_stays(gpu: Params, kind: str, nodes: int) -> None:
    params = changed(gpu, "launch", nodes=nodes, gpus=8)
    made = planned(params, kind, "deft_rlvr" if kind == "grpo" else "")
    own = [one.argv for one in made.commands if one.argv[0] == "accelerate"]
    assert [argv[argv.index("--machine_rank") + 1] for argv in own] == [
        str(k) for k in range(nodes)
    ]
    files = {Path(name).name: content for name, content in made.files.items()}
    accelerate = yaml.safe_load(files["accelerate.yaml"])
    assert (accelerate["num_machines"], accelerate["num_processes"]) == (nodes, 8 * nodes)
    assert accelerate["deepspeed_config"]["deepspeed_config_file"] in made.files
    assert own[0][-1] in made.files
    settings = json.loads(files["deepspeed.json"])
    seen = settings["train_micro_batch_size_per_gpu"] * settings["gradient_accumulation_steps"]
    section = params.sft if kind == "sft" else params.grpo
    wanted = (
        section.batch_size * section.accumulation if kind == "sft" else params.grpo.questions * 8
    )
    assert seen * 8 * nodes == wanted
    assert settings["gradient_clipping"] == section.max_grad_norm
    assert settings["zero_optimization"]["stage"] == 3
    assert made.estimate is not None
    assert made.estimate.fits


def test_the_reference_model_goes_where_nothing_or_adapters_are_trained(gpu: Params) -> None:
    with_kl = planned(gpu, "grpo", "deft_exact").estimate
    without = planned(changed(gpu, "grpo", kl=0.0), "grpo", "deft_exact").estimate
    lora = planned(changed(gpu, "grpo", lora={"rank": 16}), "grpo", "deft_exact").estimate
    assert with_kl is not None
    assert without is not None
    assert lora is not None
    assert with_kl.terms["reference model"] > 0 == without.terms["reference model"]
    assert lora.terms["reference model"] == 0
    assert lora.terms["optimizer states"] < with_kl.terms["optimizer states"] / 100
    assert lora.terms["weights"] == pytest.approx(with_kl.terms["weights"], rel=0.01)


def test_gradients_of_many_passes_are_added_up_in_fp32(gpu: Params) -> None:
    def settings(params: Params) -> Any:
        files = planned(params, "grpo", "deft_exact").files
        name = next(name for name in files if name.endswith("deepspeed.json"))
        return json.loads(files[name])

    made = settings(gpu)
    assert made["bf16"] == {"enabled": True}
    assert made["data_types"] == {"grad_accum_dtype": "fp32"}
    assert "data_types" not in settings(changed(gpu, "launch", device="cpu"))
    from deepspeed.runtime import constants

    assert (constants.DATA_TYPES, constants.GRAD_ACCUM_DTYPE) == ("data_types", "grad_accum_dtype")


def test_the_tokens_of_pictures_follow_from_their_pixels(gpu: Params) -> None:
    """Twelve pictures: of 256 tokens as the papers' settings say, of the family's 1,280 where nothing is said."""
    model = KNOWN["Qwen3-VL-8B"]
    assert _picture_tokens(gpu.sft, model) == 12 * 256
    free = changed(gpu, "sft", max_pixels=0)
    assert _picture_tokens(free.sft, model) == 12 * 1280
    assert _picture_tokens(changed(gpu, "sft", max_pixels=10**8).sft, model) == 12 * 1280


def test_a_stage_refuses_what_needs_several_processes(gpu: Params) -> None:
    for kind, hint in (("sft", "driveproof launch sft"), ("grpo", "driveproof launch grpo deft")):
        with pytest.raises(BadInput, match=r"launch.nodes: a stage is one process") as refused:
            check_single(gpu, kind, "deft" if kind == "grpo" else "")  # type: ignore[arg-type]
        assert refused.value.hint == hint
    alone = changed(gpu, "launch", nodes=1, gpus=1)
    check_single(alone, "sft")
    with pytest.raises(BadInput, match=r"grpo.vllm.tensor_parallel: .* an engine of 2 GPUs"):
        check_single(alone, "grpo", "deft_exact")
    check_single(changed(alone, "grpo", vllm={"mode": "colocate"}), "grpo", "deft_exact")
    check_single(Params(), "grpo", "deft_exact")


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_both_stages_ask(stage: str, root: Path) -> None:
    assert "check_single(params" in (root / "stages" / f"{stage}.py").read_text()


def test_what_does_not_fit_names_its_largest_term(gpu: Params) -> None:
    alone = changed(gpu, "launch", nodes=1, gpus=1, zero=2)
    made = planned(alone, "grpo", "deft_exact").estimate
    assert made is not None
    assert not made.fits
    assert made.largest == "optimizer states"  # 12 bytes for each of 8.2 billion: 91.5 GiB
    assert made.terms["optimizer states"] == pytest.approx(91.5, abs=0.1)


def test_a_server_on_the_only_node_takes_its_gpus_from_training(gpu: Params) -> None:
    served = changed(gpu, "grpo", vllm={"mode": "server", "port": 8001}, questions=48)
    one = changed(served, "launch", nodes=1, gpus=8, rollouts={"gpus": 2})
    server, *_, trainer = planned(one, "grpo", "deft_exact").commands
    assert server.argv[:2] == ("trl", "vllm-serve")
    assert server.environment["CUDA_VISIBLE_DEVICES"] == "6,7"
    assert trainer.environment["CUDA_VISIBLE_DEVICES"] == "0,1,2,3,4,5"
    several = changed(served, "launch", nodes=4, rollouts={"gpus": 2})
    several = changed(several, "grpo", questions=64)
    server, *_ = planned(several, "grpo", "deft_exact").commands
    assert server.environment["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert server.where.startswith("machine")
    with pytest.raises(BadInput, match="no GPU is left"):
        planned(changed(one, "launch", gpus=2, rollouts={"gpus": 2}), "grpo", "deft_exact")


def test_the_rollout_server_knows_every_option(gpu: Params) -> None:
    from dataclasses import fields

    from trl.scripts.vllm_serve import ScriptArguments

    served = changed(gpu, "grpo", vllm={"mode": "server"}, questions=64)
    server = planned(served, "grpo", "deft_exact").commands[0]
    options = {part.removeprefix("--") for part in server.argv if part.startswith("--")}
    assert options <= {field.name for field in fields(ScriptArguments)}


def test_the_grader_is_served_where_the_reward_looks_for_it(gpu: Params) -> None:
    commands = [one.argv for one in planned(gpu, "grpo", "deft_rlvr").commands]
    serving = next(argv for argv in commands if argv[:2] == ("vllm", "serve"))
    address, _, model = gpu.grpo.reward.grader.removeprefix("openai:").partition("#")
    given = dict(zip(serving[3::2], serving[4::2], strict=True))
    assert given["--served-model-name"] == model
    assert f"{given['--host']}:{given['--port']}" in address
    exact = planned(gpu, "grpo", "deft_exact").commands
    assert not any(one.argv[0] == "vllm" for one in exact)  # nothing is graded
    with pytest.raises(BadInput, match="openai:URL#MODEL"):
        planned(changed(gpu, "grpo", reward={"grader": "openai:nowhere"}), "grpo", "deft_rlvr")


@pytest.mark.parametrize(
    ("section", "values", "problem"),
    [
        ("launch", {"gpus": 3}, "cannot be shared"),
        ("sft", {"optimizer": "muon"}, "muon needs whole"),
        ("sft", {"base": "models/Mystery"}, "whose dimensions are known"),
    ],
)
def test_what_cannot_be_spread_is_said(
    gpu: Params, section: str, values: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        planned(changed(gpu, section, **values), "sft")


@pytest.mark.slow
def test_the_command_prints_what_is_planned(root: Path) -> None:
    from driveproof.cli import app as program

    program._assemble()
    arguments = [
        *("launch", "grpo", "deft_rlvr", "--params", str(root / "params.yaml"), "--dry-run"),
        *("--overlay", str(root / "params" / "gpu.yaml"), "--nodes", "1", "--gpus", "8"),
    ]
    shown = CliRunner().invoke(program.app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "accelerate launch --config_file" in shown.output
    assert "fits" in shown.output
    read = json.loads(CliRunner().invoke(program.app, [*arguments, "--json"]).output)
    assert read["memory"]["fits"] is True
    assert read["commands"][-1]["argv"][0] == "accelerate"
    unknown = CliRunner().invoke(program.app, ["launch", "grpo", "nothing", *arguments[3:]])
    assert isinstance(unknown.exception, BadInput)


@pytest.mark.slow
def test_settings_of_one_process_name_the_overlay(root: Path) -> None:
    from driveproof.cli import app as program

    program._assemble()
    spread = ["--nodes", "4", "--gpus", "7", "--dry-run", "--params", str(root / "params.yaml")]
    small = CliRunner().invoke(program.app, ["launch", "grpo", "deft_rlvr", *spread])
    assert isinstance(small.exception, BadInput)
    assert "--overlay params/gpu.yaml" in str(small.exception)
    overlay = ["--overlay", str(root / "params/gpu.yaml")]
    large = CliRunner().invoke(program.app, ["launch", "grpo", "deft_rlvr", *spread, *overlay])
    assert isinstance(large.exception, BadInput)
    assert "--overlay" not in str(large.exception)


def test_a_job_is_read_as_it_was_written(tmp_path: Path) -> None:
    job = Job(kind="grpo", variant="deft_rlvr", number=2, overlays=("params/gpu.yaml",))
    path = tmp_path / "job.json"
    path.write_text(job.model_dump_json())
    assert read_job(path) == job
    assert job.model == Path("models/launch/grpo_deft_rlvr_2")
    path.write_text('{"kind": "other"}')
    with pytest.raises(BadInput):
        read_job(path)


def test_checkpoints_stay_until_the_report_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed in between goes on from them."""
    from driveproof.training import worker

    job = Job(
        kind="sft", params=str(tmp_path / "p.yaml"), scratch=str(tmp_path / "scratch"),
        report=str(tmp_path / "report.json"),
    )  # fmt: skip
    (tmp_path / "p.yaml").write_text("seed: 1")
    kept = tmp_path / "scratch" / "sft" / "checkpoint-2"
    kept.mkdir(parents=True)
    monkeypatch.setattr(worker, "_sft", lambda *_: {"curve": []})
    write = worker.write_json

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "write_json", killed)
    with pytest.raises(KeyboardInterrupt):
        worker.work(job)
    assert kept.is_dir()
    monkeypatch.setattr(worker, "write_json", write)
    worker.work(job)
    assert (tmp_path / "report.json").is_file()
    assert not kept.exists()
