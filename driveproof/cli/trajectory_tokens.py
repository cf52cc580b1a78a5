"""``driveproof trajectory-tokens``: models that name their trajectory by a token, and how far off they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="The direct trajectory-token diagnostic: one token a code of the codebook.",
    no_args_is_help=True,
)

Params = Annotated[Path, typer.Option("--params", help="The parameter file; section distill.")]
Scenes = Annotated[Path, typer.Option(help="Scenes.")]
Codebook = Annotated[Path, typer.Option(help="The codebook.")]
Images = Annotated[Path, typer.Option(help="Where paths of pictures start.")]


@app.command()
def train(
    out: Annotated[Path, typer.Option(help="Model folder.")],
    reasons: Annotated[bool, typer.Option("--reasons", help="Reasons before the token.")] = False,
    params: Params = Path("params.yaml"),
    items: Annotated[Path, typer.Option(help="Train questions.")] = Path("data/mcq/train.parquet"),
    scenes: Scenes = Path("data/scenes"),
    codebook: Codebook = Path("data/codebook/codebook.npz"),
    images: Images = Path(),
) -> None:
    """Teach a model the token of each logged future.

    Example: driveproof trajectory-tokens train --out models/tokens
    """
    from tempfile import TemporaryDirectory

    from driveproof.codebook import TrajectoryCodebook
    from driveproof.config import load_params
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.scene import read_scenes
    from driveproof.training.sft import STYLE_FILE
    from driveproof.training.sft import train as learn
    from driveproof.training.trajectory_tokens import TokenLessons, extend_vocabulary

    check_folder(out, [STYLE_FILE])
    loaded = load_params(params)
    section, asked = loaded.distill, read_items(items)
    wanted = {item.record_key for item in asked}
    known = {s.record_key: s for s in read_scenes(scenes) if s.record_key in wanted}
    book = TrajectoryCodebook.load(codebook)
    lessons = TokenLessons(asked, known, book, section, loaded.seed, reasons)
    with TemporaryDirectory() as scratch:
        if section.base != "tiny":
            base = Path(scratch) / "base"
            extend_vocabulary(section.base, base, lessons.tokens, loaded.seed)
            section = section.model_copy(update={"base": str(base)})
        report = learn(lessons, section, loaded.seed, out, images)
    last = report["curve"][-1]["loss"] if report["curve"] else float("nan")
    typer.echo(f"{lessons.codes} tokens, last loss {last}")


@app.command()
def score(
    model: Annotated[Path, typer.Argument(help="A model folder of `train`.")],
    params: Params = Path("params.yaml"),
    items: Annotated[Path, typer.Option(help="Questions.")] = Path("data/mcq/test.parquet"),
    codebook: Codebook = Path("data/codebook/codebook.npz"),
    images: Images = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Errors of the trajectories that a model names, beside what the codebook itself loses.

    Example: driveproof trajectory-tokens score models/tokens
    """
    from driveproof.codebook import TrajectoryCodebook
    from driveproof.config import load_params
    from driveproof.mcq import read_items
    from driveproof.policy import ChatPolicy, PolicySettings, open_policy
    from driveproof.policy.manner import read_manner
    from driveproof.training.trajectory_tokens import check_tokens, score_tokens

    loaded, manner = load_params(params), read_manner(model)
    book = TrajectoryCodebook.load(codebook)
    reasons = check_tokens(model, manner, book, loaded.distill)
    policy = open_policy(f"transformers:{model}", PolicySettings(image_root=str(images)))
    assert isinstance(policy, ChatPolicy)
    found = score_tokens(policy, read_items(items), book, loaded.distill, loaded.seed, reasons)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for who in ("predicted", "codebook"):
        for name, value in found[who].items():
            mean = "none" if value["mean"] is None else f"{value['mean']:.2f} m"
            typer.echo(f"{who} {name.upper()} {mean} (n {value['n']})")
    typer.echo(
        f"parse failures {found['parse_failures']} of {found['questions']}, lost {found['lost']}"
    )
