"""How a trained model must be asked: what its folder says of it, and a check that it is asked so.

A small model knows one kind of prompt. ``driveproof.json`` in a model folder names it; folders without one (models of
others) may be asked anyhow.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json

FILE = "driveproof.json"
MANNER = ("mode", "graph", "wording")
"""What must agree: the input mode as JSON (:func:`driveproof.prompts.inputs.mode_to_json`), the preset of the graph of
questions, the hash of the wording (:func:`driveproof.prompts.asking.wording_hash`)."""


def read_manner(folder: str | Path) -> dict[str, Any]:
    """What ``driveproof.json`` of a model folder says; empty if there is none.

    Raises
    ------
    BadInput
        If it is no JSON object.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return {}
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected a JSON object", path=path)
    return content


def check_manner(spec: str, asked: Mapping[str, Any]) -> None:
    """Refuse to ask ``transformers:FOLDER`` in another manner than the one it was trained with.

    Parameters
    ----------
    spec
        Of a policy; what is no model folder is not checked.
    asked
        Some of :data:`MANNER`.

    Raises
    ------
    BadInput
        Naming the folder, what differs, and what it wants.
    """
    kind, _, folder = spec.partition(":")
    if kind != "transformers":
        return
    trained = read_manner(folder)
    if "mode" not in trained and ("judge_style" in trained or "prompt_hash" in trained):
        raise BadInput("was trained for another task, not for questions about driving", path=folder)
    for name in MANNER:
        if name in trained and name in asked and trained[name] != asked[name]:
            raise BadInput(
                f"was trained with {_words(trained[name])}, not with {_words(asked[name])}",
                path=folder,
                field=name,
                hint="ask it as its driveproof.json says, or train it anew",
            )


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return str(value)
