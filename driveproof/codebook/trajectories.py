"""Where trajectories come from: a .npz of arrays or a table of scenes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from driveproof.codebook.arrays import N_WAYPOINTS, flat_trajectories
from driveproof.codebook.storage import read_npz
from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.geometry.arrays import Bool, Float32
from driveproof.scene import read_columns

Text = NDArray[np.str_]


@dataclass(frozen=True)
class TrajectorySet:
    """Logged futures with the drive that each belongs to.

    ``waypoints`` is ``[N, 10, 2]`` float32 (metres, ego frame); ``scene_keys`` and ``sources`` are ``[N]``.
    """

    waypoints: Float32
    scene_keys: Text
    sources: Text

    def __len__(self) -> int:
        return len(self.waypoints)

    def where(self, mask: Bool) -> TrajectorySet:
        """The trajectories for which ``mask`` ``[N]`` holds."""
        return TrajectorySet(self.waypoints[mask], self.scene_keys[mask], self.sources[mask])


def load_trajectories(path: str | Path) -> TrajectorySet:
    """Read trajectories from a .npz or a directory of scene shards.

    A .npz has ``traj`` ``[N, 10, 2]`` and ``scene_key`` ``[N]``; the source of a drive is what its key
    has before the first slash.

    Raises
    ------
    BadInput
        If the file is damaged, a shape or type is wrong, a value is not finite, or there are none.
    """
    path = Path(path)
    found = _from_scenes(path) if path.is_dir() else _from_npz(path)
    if not len(found):
        raise BadInput("no trajectories here", path=path)
    return found


def _from_npz(path: Path) -> TrajectorySet:
    arrays = read_npz(path, ("traj", "scene_key"))
    try:
        flat = flat_trajectories(arrays["traj"], "traj")
    except BadInput as error:
        raise BadInput(error.problem, path=path, field=error.field) from None
    keys = arrays["scene_key"]
    if keys.shape != (len(flat),) or keys.dtype.kind != "U":
        raise BadInput(f"expected {len(flat)} texts", path=path, field="scene_key")
    return TrajectorySet(_waypoints(flat), keys, _sources(keys))


def _from_scenes(path: Path) -> TrajectorySet:
    try:
        table = read_columns(path, ["scene_key", "source", "future"])
        # the length is given, not inferred: a null would shift all that follow to other drives
        poses = list_column(table, "future").reshape(table.num_rows, N_WAYPOINTS, 3)
    except (pa.ArrowException, ValueError, OSError) as error:
        problem = f"not {N_WAYPOINTS} poses in each row: {str(error).splitlines()[0]}"
        raise BadInput(problem, path=path, field="future") from None
    keys = np.asarray(table["scene_key"].to_pylist(), dtype=np.str_)
    sources = np.asarray(table["source"].to_pylist(), dtype=np.str_)
    return TrajectorySet(_waypoints(flat_trajectories(poses[..., :2])), keys, sources)


def list_column(table: pa.Table, name: str) -> NDArray[Any]:
    """All numbers of a column of (nested) lists, in one flat array."""
    values = table[name].combine_chunks()
    while pa.types.is_list(values.type) or pa.types.is_fixed_size_list(values.type):
        values = values.flatten()
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _waypoints(flat: Float32) -> Float32:
    return flat.reshape(-1, N_WAYPOINTS, 2)


def _sources(scene_keys: Text) -> Text:
    return np.asarray([key.partition("/")[0] for key in scene_keys.tolist()], dtype=np.str_)


def load_splits(path: str | Path) -> dict[str, str]:
    """Read splits.json: scene key -> "train", "dev" or "test"; :class:`BadInput` if it is anything else."""
    if not Path(path).exists():
        hint = "driveproof scenes split TABLE makes one"
        raise BadInput("no such file", path=path, hint=hint)
    splits = read_json(path)
    if not isinstance(splits, dict):
        raise BadInput("expected an object of scene key -> split", path=path)
    odd = [key for key, value in splits.items() if value not in ("train", "dev", "test")]
    if odd:
        raise BadInput("expected train, dev or test", path=path, field=odd[0])
    return splits


def in_split(trajectories: TrajectorySet, splits: dict[str, str], split: str) -> Bool:
    """Mask ``[N]`` of the trajectories whose drive is in ``split``; :class:`BadInput` if a drive has no split."""
    names = [splits.get(key) for key in trajectories.scene_keys.tolist()]
    if None in names:
        key = str(trajectories.scene_keys[names.index(None)])
        raise BadInput("drive without a split", path="splits.json", field=key)
    return np.asarray([name == split for name in names], dtype=np.bool_)
