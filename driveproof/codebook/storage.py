"""Codebooks on disk: a .npz of the prototypes and a JSON text; nothing in it is ever unpickled."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driveproof.codebook.arrays import N_WAYPOINTS, digest, flat_trajectories
from driveproof.errors import BadInput
from driveproof.files import atomic_open

if TYPE_CHECKING:
    from driveproof.codebook.estimator import TrajectoryCodebook

FORMAT_VERSION = 1
MAX_BYTES = 1 << 30
"""Archives that unpack to more are refused before they are unpacked."""


def save_codebook(codebook: TrajectoryCodebook, path: Path) -> None:
    """Write ``codebook``; the file appears whole or not at all."""
    metadata = {
        "format": "driveproof-codebook",
        "version": FORMAT_VERSION,
        "n_codes": len(codebook.codes_),
        "n_samples": codebook.n_samples_,
        "data_sha256": codebook.data_digest_,
        "codes_sha256": digest(flat_trajectories(codebook.codes_)),
        "params": codebook.get_params(),
    }
    text = np.array(json.dumps(metadata, sort_keys=True))
    with atomic_open(path, "wb") as stream:
        np.savez(stream, codes=codebook.codes_, metadata=text)


def load_codebook(path: Path) -> TrajectoryCodebook:
    """Read and check a codebook."""
    from driveproof.codebook.estimator import TrajectoryCodebook

    arrays = read_npz(path, ("codes", "metadata"))
    metadata = _metadata(arrays["metadata"], path)
    codes = arrays["codes"]
    if codes.dtype != np.float32 or codes.ndim != 3 or codes.shape[1:] != (N_WAYPOINTS, 2):
        raise BadInput(
            f"expected float32 [K, {N_WAYPOINTS}, 2], got {codes.dtype} {list(codes.shape)}",
            path=path,
            field="codes",
        )
    if not len(codes) or not np.isfinite(codes).all():
        raise BadInput("empty or not finite", path=path, field="codes")
    if digest(flat_trajectories(codes)) != metadata["codes_sha256"]:
        raise BadInput("prototypes differ from their recorded digest", path=path, field="codes")
    try:
        codebook = TrajectoryCodebook(**metadata["params"])
    except TypeError as error:
        raise BadInput(f"unknown parameter: {error}", path=path, field="metadata") from None
    codebook.codes_ = codes
    codebook.n_samples_ = int(metadata["n_samples"])
    codebook.data_digest_ = str(metadata["data_sha256"])
    return codebook


def _metadata(array: NDArray[Any], path: Path) -> dict[str, Any]:
    try:
        metadata = json.loads(str(array))
    except json.JSONDecodeError:
        metadata = None
    if not isinstance(metadata, dict) or metadata.get("format") != "driveproof-codebook":
        raise BadInput("not a codebook of this program", path=path, field="metadata")
    if metadata.get("version") != FORMAT_VERSION:
        raise BadInput(
            f"format version {metadata.get('version')}, this program reads {FORMAT_VERSION}",
            path=path,
            hint="fit the codebook again",
        )
    types = {"n_samples": int, "data_sha256": str, "codes_sha256": str, "params": dict}
    wrong = [k for k, kind in types.items() if not isinstance(metadata.get(k), kind)]
    if wrong:
        raise BadInput(f"missing or of the wrong type: {', '.join(wrong)}", path=path)
    return metadata


def read_npz(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Some arrays of a .npz from anywhere, without unpickling; :class:`BadInput` names what is wrong."""
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
        if total > MAX_BYTES:
            raise BadInput(f"unpacks to {total} bytes, more than {MAX_BYTES}", path=path)
        with np.load(path, allow_pickle=False) as archive:
            missing = sorted(set(names) - set(archive.files))
            if missing:
                raise BadInput(f"no array named {', '.join(missing)}", path=path)
            return {name: archive[name] for name in names}
    except FileNotFoundError:
        raise BadInput("no such file", path=path) from None
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"not a readable .npz: {text}", path=path) from None
