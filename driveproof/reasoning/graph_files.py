"""Reading graphs of questions: presets by name, YAML or JSON files, and the ``CHAIN`` of Bench2Drive-VL's configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from driveproof.errors import BadInput
from driveproof.reasoning.graph import ReasoningGraph
from driveproof.reasoning.presets import PRESETS

MAX_BYTES = 1 << 20
_PEER_KEYS = frozenset(
    {
        "TASK_CONFIGS", "INFERENCE_BASICS", "CONTROL_RATE", "MODEL_NAME", "MODEL_PATH", "GPU_ID", "PORT",
        "IN_CARLA", "USE_BASE64", "NO_PERC_INFO", "INFER_SUBSET", "USE_CHECKPOINT", "SUBSET_FILE",
        "CHECKPOINT_FILE", "ENTRY_EXIT_FILE", "APPEND_QUESTION", "APPENDIX_FILE",
    }
)  # fmt: skip


class _GraphFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    NODE: list[StrictInt]
    EDGE: dict[int, list[StrictInt]] = Field(default_factory=dict)
    INHERIT: dict[int, list[StrictInt]] = Field(default_factory=dict)
    USE_GT: list[StrictInt] = Field(default_factory=list)
    WINDOW: StrictInt = 1


def open_graph(name: str | Path) -> ReasoningGraph:
    """The preset of that name, or the graph of that file.

    Raises
    ------
    BadInput
        If it is neither, with path and field.
    """
    if str(name) in PRESETS:
        return PRESETS[str(name)].graph
    path = Path(name)
    if not path.exists():
        hint = f"a preset ({', '.join(PRESETS)}) or a YAML or JSON file"
        raise BadInput("no such graph", path=path, hint=hint)
    return load_graph(path)


def load_graph(path: str | Path) -> ReasoningGraph:
    """A graph from a file with the words NODE, EDGE, INHERIT, USE_GT (and WINDOW), alone or below ``CHAIN``.

    ``.json`` is JSON, anything else YAML. Beside ``CHAIN`` the other words of a Bench2Drive-VL configuration may
    stand; they are not read. (Its CONVERSATION_WINDOW of 1 would keep no earlier frame; WINDOW is ours, 1 by default.)

    Raises
    ------
    BadInput
        With path and field.
    """
    path = Path(path)
    content = _parse(path)
    prefix = ""
    if isinstance(content, dict) and "CHAIN" in content:
        strange = sorted(str(key) for key in content if key not in _PEER_KEYS | {"CHAIN"})
        if strange:
            raise BadInput(
                "stands beside CHAIN and has no meaning here", path=path, field=strange[0]
            )
        content, prefix = content["CHAIN"], "CHAIN."
    return parse_graph(content, path=path, prefix=prefix)


def parse_graph(content: Any, *, path: Path | None = None, prefix: str = "") -> ReasoningGraph:
    """The graph of plain values as they stand in a file; see :func:`load_graph`."""
    if not isinstance(content, dict):
        raise BadInput("not a graph: no NODE, EDGE, INHERIT, USE_GT", path=path, field=prefix[:-1])
    for word in ("EDGE", "INHERIT"):
        _one_spelling(content.get(word), path, f"{prefix}{word}")
    try:
        # an empty section of YAML is None
        found = _GraphFile.model_validate({k: v for k, v in content.items() if v is not None})
        if len(set(found.USE_GT)) < len(found.USE_GT):
            raise BadInput("a question is given twice", field="USE_GT")
        return ReasoningGraph(
            nodes=tuple(found.NODE),
            edges=tuple((start, end) for start, ends in found.EDGE.items() for end in ends),
            inherit={number: tuple(sources) for number, sources in found.INHERIT.items()},
            use_truth=frozenset(found.USE_GT),
            window=found.WINDOW,
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = prefix + ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise BadInput(first["msg"], path=path, field=place) from None
    except BadInput as error:
        raise BadInput(
            error.problem, path=path, field=f"{prefix}{error.field}", hint=error.hint
        ) from None


def _one_spelling(section: Any, path: Path | None, place: str) -> None:
    """Refuse ``19`` beside ``"19"``: one would overwrite the other."""
    if isinstance(section, dict):
        names = [str(key) for key in section]
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"{name} is given twice", path=path, field=place)


def _parse(path: Path) -> Any:
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise BadInput("larger than a graph of questions can be (1 MiB)", path=path)
        text = data.decode("utf-8")
        if path.suffix == ".json":
            return json.loads(text, object_pairs_hook=_once)
        return yaml.load(text, Loader=_OnceLoader)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else None
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise BadInput(f"not YAML: {problem}", path=path, field=place) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON or YAML: {error}", path=path) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:40]} is given twice")
    return found


class _OnceLoader(yaml.SafeLoader):
    """YAML in which a key that stands twice in a mapping is an error, not a silent loss."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(key_node.value)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key[:40]} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)
