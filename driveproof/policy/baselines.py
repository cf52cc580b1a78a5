"""The models that papers compare with, by name: what they are, and where their folder is expected.

Bench2Drive-VL drives with Qwen2.5-VL 3B, Gemma 3 4B and InternVL 3 2B; larger and newer ones stand beside them. Nothing is
fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from driveproof.errors import BadInput
from driveproof.policy.families import FAMILIES, Family, family_of

FOLDER = Path("models") / "baselines"
"""Where a baseline's folder is expected unless another is named."""


@dataclass(frozen=True)
class Baseline:
    """A published model.

    ``model`` is its public id, ``family`` a key of ``FAMILIES``, ``gigabytes`` the weights in bfloat16.
    """

    model: str
    family: str
    gigabytes: float

    @property
    def quirks(self) -> Family:
        """What its family wants."""
        return FAMILIES[self.family]


BASELINES = {
    "qwen2.5-vl-3b": Baseline("Qwen/Qwen2.5-VL-3B-Instruct", "qwen2_5_vl", 7.5),
    "qwen2.5-vl-7b": Baseline("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl", 16.6),
    "qwen3-vl-4b": Baseline("Qwen/Qwen3-VL-4B-Instruct", "qwen3_vl", 8.9),
    "qwen3-vl-8b": Baseline("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl", 17.5),
    "gemma3-4b": Baseline("google/gemma-3-4b-it", "gemma3", 8.6),
    "internvl3-2b": Baseline("OpenGVLab/InternVL3-2B-hf", "internvl", 4.2),
    "internvl3-8b": Baseline("OpenGVLab/InternVL3-8B-hf", "internvl", 15.9),
}


def baseline_folder(rest: str) -> Path:
    """The model folder of ``NAME[#FOLDER]``.

    Raises
    ------
    BadInput
        If there is no such baseline or folder, or the folder holds a model of another family.
    """
    name, _, folder = rest.partition("#")
    baseline = BASELINES.get(name)
    if baseline is None:
        raise BadInput(f"no such baseline: {name}", hint="one of " + ", ".join(BASELINES))
    path = Path(folder) if folder else FOLDER / name
    if not path.is_dir():
        hint = (
            f"put {baseline.model} there, or serve it: openai:http://host:8000/v1#{baseline.model}"
        )
        raise BadInput("no such model folder", path=path, hint=hint)
    found = family_of(path)
    if found is not baseline.quirks:
        raise BadInput(f"{name} is of {baseline.quirks.title}, this is {found.title}", path=path)
    return path
