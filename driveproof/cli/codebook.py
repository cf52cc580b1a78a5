"""``driveproof codebook``: fit, look at and use trajectory prototypes; sweep their number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Trajectory prototypes: fit, encode, show, sweep.", no_args_is_help=True)

Source = Annotated[
    Path, typer.Argument(help="Directory of scene shards, or .npz with traj and scene_key.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of clustering and of the splits.")
]


@app.command()
def fit(
    path: Source,
    out: Annotated[Path, typer.Option(help="Codebook to write.")] = Path("codebook.npz"),
    n_codes: Annotated[
        int | None,
        typer.Option(help="Number of codes; default by the rule in params.yaml's section."),
    ] = None,
    splits: Annotated[
        Path | None, typer.Option(help="splits.json: fit train drives, measure on the others.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fit a codebook.

    Example: driveproof codebook fit data/scenes --splits data/scenes/splits.json
    """
    from driveproof.codebook.build import build_codebook
    from driveproof.config.codebook import CodebookParams
    from driveproof.errors import BadInput
    from driveproof.files import check_file

    if n_codes is not None and n_codes < 2:
        raise BadInput("expected at least 2", field="--n-codes")
    check_file(out)
    built = build_codebook(path, CodebookParams(n_codes=n_codes), seed, splits)
    built.codebook.save(out)
    if as_json:
        typer.echo(json.dumps({"path": str(out), **built.metrics}, indent=2))
        return
    rows = {"in-sample": built.metrics["in"], "held out": built.metrics["out"]}
    _print_errors(f"{built.metrics['n_codes']} codes in {out}", rows)


@app.command()
def encode(
    codebook: Annotated[Path, typer.Argument(help="Codebook (.npz).")],
    path: Source,
    out: Annotated[Path | None, typer.Option(help=".npz to write codes and scene_key to.")] = None,
    as_json: Json = False,
) -> None:
    """Encode trajectories and measure the error.

    Example: driveproof codebook encode codebook.npz data/scenes
    """
    import numpy as np

    from driveproof.codebook import TrajectoryCodebook
    from driveproof.codebook.trajectories import load_trajectories
    from driveproof.files import atomic_open

    book, data = TrajectoryCodebook.load(codebook), load_trajectories(path)
    if out is not None:
        codes = book.encode(data.waypoints)
        with atomic_open(out, "wb") as stream:
            np.savez(stream, codes=codes, scene_key=data.scene_keys)
    errors = book.evaluate(data.waypoints).to_dict()
    if as_json:
        typer.echo(json.dumps(errors, indent=2))
        return
    _print_errors(str(path), {"all": errors})


@app.command()
def show(
    codebook: Annotated[Path, typer.Argument(help="Codebook (.npz).")],
    code: Annotated[
        list[int] | None, typer.Option(help="Print the waypoints of these codes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a codebook is.

    Example: driveproof codebook show data/codebook/codebook.npz --code 7
    """
    import numpy as np
    from rich.text import Text

    from driveproof.cli.console import Console
    from driveproof.codebook import TrajectoryCodebook

    book = TrajectoryCodebook.load(codebook)
    chosen = {k: book.decode(np.array(k)).round(3).tolist() for k in code or ()}
    about: dict[str, Any] = {
        "n_codes": len(book.codes_),
        "fitted_to": book.n_samples_,
        "data_sha256": book.data_digest_,
        "params": book.get_params(),
        "x_range_m": [float(book.codes_[..., 0].min()), float(book.codes_[..., 0].max())],
        "y_range_m": [float(book.codes_[..., 1].min()), float(book.codes_[..., 1].max())],
    }
    if chosen:
        about["waypoints"] = chosen
    if as_json:
        typer.echo(json.dumps(about, indent=2))
        return
    for name, value in about.items():
        Console().print(Text.assemble((name, "bold"), f" {value}"))


@app.command()
def sweep(
    path: Source,
    out: Annotated[
        Path | None, typer.Option(help="Directory for sweep.json, resolution.csv, scale.csv.")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of codes.")] = "256,512,1024,2048",
    scale_sizes: Annotated[
        str, typer.Option(help="Numbers of codes of the data-scale sweep.")
    ] = "",
    splits: Annotated[int, typer.Option(min=1, help="Splits by scene at --held-out.")] = 5,
    held_out: Annotated[float, typer.Option(help="Fraction of drives held out.")] = 0.1,
    seeds: Annotated[str, typer.Option(help="Seeds of the clustering.")] = "0",
    cross_source: Annotated[
        list[str] | None, typer.Option(help="Source that is never fitted, evaluated apart.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Reconstruction error against the number of codes and of trajectories (DEFT-RLVR, tables 5 and 6).

    Example: driveproof codebook sweep data/scenes --scale-sizes 1024 --out reports/sweep
    """
    from driveproof.cli.console import Console, Progress
    from driveproof.codebook.sweep import run_sweep, write_sweep
    from driveproof.codebook.trajectories import load_trajectories
    from driveproof.config.codebook import ClusteringParams
    from driveproof.files import check_folder

    params = _sweep_params(
        source=str(path),
        sizes=_numbers(sizes, "--sizes"),
        scale_sizes=_numbers(scale_sizes, "--scale-sizes"),
        seeds=_numbers(seeds, "--seeds"),
        n_splits=splits,
        held_out=held_out,
        cross_sources=tuple(cross_source or ()),
        workers=workers,
    )
    if out is not None:
        check_folder(out, ["sweep.json"])
    data = load_trajectories(path)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("fitting codebooks", total=None)
        report = run_sweep(
            data,
            params,
            ClusteringParams(),
            seed,
            lambda done, total: progress.update(bar, completed=done, total=total),
        )
    if out is not None:
        write_sweep(report, out)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
        return
    _print_sweep(report)


def _sweep_params(**values: Any) -> Any:
    from pydantic import ValidationError

    from driveproof.config.sweep import SweepParams
    from driveproof.errors import BadInput

    try:
        return SweepParams(**values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "sweep"
        raise BadInput(first["msg"], field=field) from None


def _numbers(text: str, name: str) -> tuple[int, ...]:
    from driveproof.errors import BadInput

    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise BadInput(f"expected whole numbers with commas, got {text!r}", field=name) from None


def _print_errors(title: str, rows: dict[str, dict[str, Any] | None]) -> None:
    from rich.table import Table

    from driveproof.cli.console import Console

    table = Table("", "n", "ADE m", "p50", "p95", "p99", "FDE m", "utilisation", title=title)
    for name, row in rows.items():
        if row is None:
            continue
        ade = row["ade"]
        figures = [f"{ade[k]:.3f}" for k in ("mean", "p50", "p95", "p99")]
        fde, used = f"{row['fde']['mean']:.3f}", f"{row['utilisation']:.1%}"
        table.add_row(name, str(row["n"]), *figures, fde, used)
    Console().print(table)


def _print_sweep(report: dict[str, Any]) -> None:
    from rich.table import Table

    from driveproof.cli.console import Console

    console = Console()
    for name in ("resolution", "scale"):
        if not report[name]:
            continue
        table = Table(
            "codes", "fitted", "in ADE", "held-out ADE", "± sd", "gap", "used", title=name
        )
        for row in report[name]:
            figures = [f"{row[k]:.3f}" for k in ("in_ade", "out_ade", "out_ade_sd", "gap")]
            used = f"{row['out_utilisation']:.1%}"
            table.add_row(str(row["n_codes"]), str(row["n_fit"]), *figures, used)
        console.print(table)
    for place, law in report["power_law"].items():
        if law:
            console.print(f"{place}: ADE ~ K^-{law['exponent']:.3f} (r² {law['r2']:.4f})")
    console.print(f"recommended number of codes: {report['recommended_n_codes']}")
