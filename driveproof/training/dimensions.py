"""The dimensions of a vision-language model, and how many parameters follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json


@dataclass(frozen=True)
class Linear:
    """The gated delta rule of Qwen3.5's layers without attention."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int


@dataclass(frozen=True)
class Vision:
    """A vision encoder of the Qwen family: patches, blocks, a merger, and (Qwen3-VL) mergers of inner layers."""

    hidden: int
    layers: int
    intermediate: int
    patch: int
    temporal: int
    merge: int
    out: int
    positions: int
    deep: int = 0
    channels: int = 3

    @property
    def parameters(self) -> int:
        """Weights and biases of patches, positions, blocks and mergers."""
        h, wide = self.hidden, self.hidden * self.merge**2
        patches = self.channels * self.temporal * self.patch**2 * h + h
        attention = h * 3 * h + 3 * h + h * h + h
        mlp = 2 * h * self.intermediate + self.intermediate + h
        block = attention + mlp + 4 * h
        merger = wide * wide + wide + wide * self.out + self.out
        mergers = merger + 2 * h + self.deep * (merger + 2 * wide)
        return patches + self.positions * h + self.layers * block + mergers


@dataclass(frozen=True)
class Dimensions:
    """A decoder with grouped-query attention, gated feed-forward layers, RMS norms, and a vision encoder.

    Attributes
    ----------
    attention_layers
        Layers with softmax attention; the others are ``linear``.
    gated
        The attention's output is gated, for which the query projection is twice as wide (Qwen3.5).
    tied
        The embeddings are also the output layer.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    tied: bool
    vision: Vision
    attention_layers: int
    gated: bool = False
    linear: Linear | None = None

    @property
    def projections(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of the matrices of a layer with attention, by the names that adapters target."""
        query, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "q_proj": (self.hidden, query * (2 if self.gated else 1)),
            "k_proj": (self.hidden, keys),
            "v_proj": (self.hidden, keys),
            "o_proj": (query, self.hidden),
            "gate_proj": (self.hidden, self.intermediate),
            "up_proj": (self.hidden, self.intermediate),
            "down_proj": (self.intermediate, self.hidden),
        }

    @property
    def embedding(self) -> int:
        """Parameters of the embeddings."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters, the vision encoder's included."""
        matrices = {name: a * b for name, (a, b) in self.projections.items()}
        feed = sum(matrices[name] for name in ("gate_proj", "up_proj", "down_proj"))
        attention = sum(matrices.values()) - feed + 2 * self.head_dim
        mixed = self.attention_layers * attention
        mixed += (self.layers - self.attention_layers) * self._linear()
        embeddings = self.embedding * (1 if self.tied else 2)
        text = embeddings + mixed + self.layers * (feed + 2 * self.hidden) + self.hidden
        return text + self.vision.parameters

    def adapters(self, rank: int, targets: tuple[str, ...]) -> int:
        """Parameters of low-rank adapters of ``rank``; a target's two factors have its inputs and its outputs.

        Raises
        ------
        BadInput
            If a target is no matrix of a layer.
        """
        total = 0
        for name in targets:
            if name not in self.projections:
                known = ", ".join(self.projections)
                raise BadInput(f"no matrix of that name: {name}", field="lora", hint=known)
            everywhere = name in ("gate_proj", "up_proj", "down_proj")
            layers = self.layers if everywhere else self.attention_layers
            total += layers * rank * sum(self.projections[name])
        return total

    def cache_bytes(self, tokens: int) -> int:
        """Keys and values of ``tokens`` in bf16."""
        return 2 * 2 * self.attention_layers * self.kv_heads * self.head_dim * tokens

    def _linear(self) -> int:
        if self.linear is None:
            return 0
        of = self.linear
        keys, values = of.key_heads * of.key_dim, of.value_heads * of.value_dim
        projected = self.hidden * (2 * keys + 2 * values + 2 * of.value_heads)
        small = (2 * keys + values) * of.kernel + 2 * of.value_heads + of.value_dim
        return projected + small + values * self.hidden


def _qwen3_vl(name: str, hidden: int, layers: int, heads: int, feed: int, tied: bool) -> Dimensions:
    vision = (
        Vision(1152, 27, 4304, 16, 2, 2, hidden, 2304, 3)
        if hidden > 2560
        else Vision(1024, 24, 4096, 16, 2, 2, hidden, 2304, 3)
    )
    return Dimensions(name, hidden, layers, heads, 8, 128, feed, 151936, tied, vision, layers)


KNOWN = {
    known.name: known
    for known in (
        _qwen3_vl("Qwen3-VL-8B", 4096, 36, 32, 12288, False),
        _qwen3_vl("Qwen3-VL-2B", 2048, 28, 16, 6144, True),
        Dimensions(
            "Qwen3.5-4B", 2560, 32, 16, 4, 256, 9216, 248320, True,
            Vision(1024, 24, 4096, 16, 2, 2, 2560, 2304), 8, True, Linear(16, 32, 128, 128, 4),
        ),
    )
}  # fmt: skip
"""Published dimensions, for estimates before a model's folder is there."""


def dimensions_of(folder: str | Path) -> Dimensions:
    """Dimensions from the ``config.json`` of a model folder, or of the known model that the folder is named after.

    Raises
    ------
    BadInput
        If there is no such folder and no known model of that name, or the configuration lacks what is needed.
    """
    path = Path(folder) / "config.json"
    if path.is_file():
        return _read(path)
    for name, known in KNOWN.items():
        if Path(folder).name.startswith(name):
            return known
    raise BadInput(
        "neither a model folder nor a model whose dimensions are known",
        path=folder,
        hint="known: " + ", ".join(KNOWN),
    )


def _read(path: Path) -> Dimensions:
    content = read_json(path)
    try:
        text, vision = content["text_config"], content["vision_config"]
        heads, layers = text["num_attention_heads"], text["num_hidden_layers"]
        kinds = text.get("layer_types") or ["full_attention"] * layers
        linear = "linear_attention" in kinds
        tied = content.get("tie_word_embeddings", text.get("tie_word_embeddings", False))
        return Dimensions(
            name=str(content.get("model_type", path.parent.name)),
            hidden=text["hidden_size"],
            layers=layers,
            heads=heads,
            kv_heads=text["num_key_value_heads"],
            head_dim=text.get("head_dim") or text["hidden_size"] // heads,
            intermediate=text["intermediate_size"],
            vocabulary=text["vocab_size"],
            tied=bool(tied),
            vision=_vision(vision),
            attention_layers=layers - kinds.count("linear_attention"),
            gated=linear,
            linear=_delta(text) if linear else None,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"no configuration of a Qwen vision-language model: {error}", path=path
        ) from None


def _vision(part: Mapping[str, Any]) -> Vision:
    return Vision(
        hidden=part["hidden_size"],
        layers=part["depth"],
        intermediate=part["intermediate_size"],
        patch=part["patch_size"],
        temporal=part["temporal_patch_size"],
        merge=part["spatial_merge_size"],
        out=part["out_hidden_size"],
        positions=part["num_position_embeddings"],
        deep=len(part.get("deepstack_visual_indexes") or ()),
        channels=part.get("in_channels", 3),
    )


def _delta(text: Mapping[str, Any]) -> Linear:
    return Linear(
        key_heads=text["linear_num_key_heads"],
        value_heads=text["linear_num_value_heads"],
        key_dim=text["linear_key_head_dim"],
        value_dim=text["linear_value_head_dim"],
        kernel=text["linear_conv_kernel_dim"],
    )
