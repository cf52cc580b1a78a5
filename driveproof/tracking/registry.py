"""Versions in the model registry: found by reference or content, with their scores by unit."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from driveproof.errors import BadInput
from driveproof.evaluation.unit_scores import UnitScore, read_unit_scores, write_unit_scores
from driveproof.files import atomic_dir
from driveproof.tracking.lineage import weights_revisions
from driveproof.tracking.store import Store, silent

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.exceptions import MlflowException

MODELS_PATH = "models"
"""Where a run keeps its models."""
SCORES_PATH = "unit_scores"
_SCORES_TAG = "unit_scores."
"""Tag of a version: which artifact of which run holds its scores of a kind, as ``run_id:path``."""
_REFERENCE = re.compile(r"^(?P<name>[^/:@]+)(?:@(?P<alias>[A-Za-z][\w-]*)|/(?P<number>\d+))$")


class NoSuchVersion(BadInput):
    """The registry answered, and has no such version."""


@dataclass(frozen=True)
class Version:
    """A version of a registered model; ``str`` of it is ``name/number``."""

    name: str
    number: str
    aliases: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    """Kinds of scores that are attached."""

    def __str__(self) -> str:
        return f"{self.name}/{self.number}"


def find_version(store: Store, reference: str) -> Version:
    """The version that ``name@alias`` or ``name/number`` means.

    Raises
    ------
    BadInput
        If it is no reference; NoSuchVersion if the registry has no such version.
    Unreachable
        If the registry does not say.
    """
    from mlflow.exceptions import MlflowException

    match = _REFERENCE.match(reference)
    if match is None:
        raise BadInput("no model version", field=reference, hint="name@alias or name/number")
    name, alias, number = match.group("name", "alias", "number")
    try:
        found = (
            store.client.get_model_version_by_alias(name, alias)
            if alias
            else store.client.get_model_version(name, number)
        )
    except MlflowException as error:
        if not _absent(error):
            raise silent(error, path=reference) from None
        hint = "driveproof publish registers models"
        raise NoSuchVersion(str(error).splitlines()[0], field=reference, hint=hint) from None
    return _version(found)


def _absent(error: MlflowException) -> bool:
    """Whether the store said that there is no such thing; a time-out or a locked database says nothing.

    Of a missing alias MLflow says that it is an invalid parameter.
    """
    return error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


def list_versions(store: Store) -> list[Version]:
    """All versions of all models, the latest of each model first."""
    from mlflow.exceptions import MlflowException

    aliases: dict[tuple[str, str], list[str]] = {}
    try:
        found = [_version(version) for version in store.client.search_model_versions("")]
        for name in {version.name for version in found}:
            # a search does not tell the aliases
            for alias, number in store.client.get_registered_model(name).aliases.items():
                aliases.setdefault((name, str(number)), []).append(alias)
    except MlflowException as error:
        raise silent(error) from None
    named = [
        replace(version, aliases=tuple(sorted(aliases.get((version.name, version.number), []))))
        for version in found
    ]
    return sorted(named, key=lambda version: (version.name, -int(version.number)))


def fetch_model(store: Store, version: Version, target: str | Path) -> Path:
    """Copy the files of a version into the folder ``target``, whole or not at all; returns it.

    Raises
    ------
    BadInput
        If its files are not there any more.
    UserError
        If ``target`` holds something else.
    """
    from mlflow.artifacts import download_artifacts
    from mlflow.exceptions import MlflowException

    try:
        source = store.client.get_model_version_download_uri(version.name, version.number)
        with tempfile.TemporaryDirectory() as scratch, atomic_dir(target) as folder:
            held = Path(download_artifacts(artifact_uri=source, dst_path=scratch))
            shutil.copytree(held, folder, dirs_exist_ok=True)
    except (MlflowException, FileNotFoundError) as error:
        problem = str(error).splitlines()[0]
        raise BadInput(f"its files are gone: {problem}", field=str(version)) from None
    return Path(target)


def version_revisions(store: Store, version: Version) -> frozenset[str]:
    """Revisions of the weights among a version's files; none if it has no safetensors.

    Raises
    ------
    BadInput
        If its files are not there any more.
    """
    with tempfile.TemporaryDirectory() as scratch:
        return weights_revisions(fetch_model(store, version, Path(scratch) / "model"))


def version_of_content(store: Store, name: str, content_hash: str) -> Version | None:
    """The version of ``name`` with that content, if it is registered."""
    versions = store.client.search_model_versions(f"name = '{name}'")
    matching = [v for v in versions if v.tags.get("content_hash") == content_hash]
    return _version(matching[0]) if matching else None


def register(store: Store, run: Run, name: str, model: Path, content_hash: str) -> Version:
    """Copy a model folder into the run and register it as the next version of ``name``."""
    from mlflow.exceptions import MlflowException

    where = f"{MODELS_PATH}/{model.name}"
    store.client.log_artifacts(run.info.run_id, str(model), where)
    try:
        store.client.get_registered_model(name)
    except MlflowException as error:
        if not _absent(error):
            raise silent(error, path=name) from None
        store.client.create_registered_model(name)
    tags = {"content_hash": content_hash, "dvc_lock": str(run.data.tags["dvc_lock"])}
    source = f"{run.info.artifact_uri}/{where}"
    return _version(
        store.client.create_model_version(name, source=source, run_id=run.info.run_id, tags=tags)
    )


def set_alias(store: Store, version: Version, alias: str) -> None:
    """Move ``alias`` to a version."""
    store.client.set_registered_model_alias(version.name, alias, version.number)


def attach_scores(
    store: Store, version: Version, run_id: str, kind: str, scores: Sequence[UnitScore]
) -> None:
    """Keep scores of a kind ("mcq", "drive") with a run, and have the version point to them.

    Scores of the same kind that it pointed to before stay with their run.
    """
    folder = f"{SCORES_PATH}/{version.name}-{version.number}"
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{kind}.parquet"
        write_unit_scores(path, scores)
        store.client.log_artifact(run_id, str(path), folder)
    where = f"{run_id}:{folder}/{kind}.parquet"
    store.client.set_model_version_tag(version.name, version.number, _SCORES_TAG + kind, where)


def unit_scores(store: Store, version: Version) -> list[UnitScore]:
    """All scores that were attached to a version.

    Raises
    ------
    BadInput
        If there are none.
    """
    from mlflow.artifacts import download_artifacts

    tags = store.client.get_model_version(version.name, version.number).tags
    places = [value for key, value in sorted(tags.items()) if key.startswith(_SCORES_TAG)]
    if not places:
        raise BadInput("was never measured", field=str(version), hint="driveproof publish")
    scores: list[UnitScore] = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, place in enumerate(places):
            run_id, _, path = place.partition(":")
            root = store.client.get_run(run_id).info.artifact_uri
            target = Path(scratch) / str(number)
            target.mkdir()
            local = download_artifacts(artifact_uri=f"{root}/{path}", dst_path=str(target))
            scores += read_unit_scores(local)
    return scores


def _version(found: ModelVersion) -> Version:
    kinds = [key.removeprefix(_SCORES_TAG) for key in found.tags if key.startswith(_SCORES_TAG)]
    aliases = tuple(sorted(found.aliases or ()))
    return Version(found.name, str(found.version), aliases, tuple(sorted(kinds)))
