"""Memory of a training GPU on paper, term by term (Rajbhandari et al., ZeRO, 2020; Korthikanti et al., 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.training.dimensions import Dimensions

GIB = 1024**3
STATE_BYTES = 12
"""fp32 copy of the weights and Adam's two moments, an element."""
GRADIENT_BYTES = 4
"""Gradients are added up in fp32 (``data_types.grad_accum_dtype``), an element."""
LOGIT_BYTES = 14
"""Peak bytes of a score over the vocabulary in sft: bf16 2, its fp32 copy 4, its log-probability 4, gradient 4."""
TILE = (4096, 32768)
"""grpo: TRL's head never holds all scores, but those of so many tokens by so many words at a time."""


@dataclass(frozen=True)
class Load:
    """What one GPU holds and does.

    Attributes
    ----------
    kind
        "sft" or "grpo".
    processes, zero
        Training GPUs altogether; stage of ZeRO.
    trainable
        Parameters with gradients, adapters included; ``frozen`` are those without.
    head_trained
        Whether the output layer is among the trainable.
    reference
        A second, frozen model (the KL term without adapters).
    batch, sequence, scored, picture_tokens
        Examples of a pass, tokens of each, tokens of each whose scores are computed, tokens of its pictures.
    checkpointing
        Only the inputs of layers are kept, and a layer is computed again on the way back.
    vision_trained
        Whether the vision encoder's activations are needed on the way back.
    width
        Bytes of a weight or an activation: 2 (bf16) or 4.
    bucket, live_parameters
        Elements reduced, and gathered, at once.
    generating
        Rollouts that are generated at once by the training processes themselves (no vLLM); 0: none.
    vllm_gib, reserve_gib
        What vLLM, and CUDA with NCCL, keep for themselves.
    """

    kind: str
    processes: int
    zero: int
    trainable: int
    frozen: int
    head_trained: bool
    reference: bool
    batch: int
    sequence: int
    scored: int
    picture_tokens: int
    checkpointing: bool
    vision_trained: bool
    width: int
    bucket: int
    live_parameters: int
    generating: int
    vllm_gib: float
    reserve_gib: float


def terms(of: Dimensions, load: Load) -> dict[str, float]:
    """GiB of every term. Of ``backward`` terms and ``generation`` only the larger is there at a time.

    The sharded terms are divided by the number of processes: gradients and states always, weights in stage 3.
    """
    weights = load.trainable + load.frozen
    shards = load.processes if load.zero == 3 else 1
    found = {
        "weights": weights * load.width / shards,
        "gradients": load.trainable * GRADIENT_BYTES / load.processes,
        "optimizer states": load.trainable * STATE_BYTES / load.processes,
        # stage 2 of a frozen model is a whole copy: there is nothing to shard but weights
        "reference model": (weights * load.width / shards) if load.reference else 0.0,
        "gathered weights": _gathered(weights, load),
        "buckets": 2 * load.bucket * load.width,  # one is filled while the other is reduced
        "activations": activations(of, load),
        "logits": _logits(of, load),
        "generation": _generation(of, weights, load),
        "vLLM": load.vllm_gib * GIB,
        "reserve": load.reserve_gib * GIB,
    }
    return {name: value / GIB for name, value in found.items()}


BACKWARD = ("gathered weights", "buckets", "activations", "logits")
"""Terms of the forward and backward pass, absent while rollouts are generated."""


def total(found: dict[str, float]) -> float:
    """Peak GiB: everything that stays, and the larger of backward pass and generation."""
    passing = sum(found[name] for name in BACKWARD)
    staying = sum(found.values()) - passing - found["generation"]
    return staying + max(passing, found["generation"])


def largest(found: dict[str, float]) -> str:
    """The name of the largest term."""
    return max(found, key=lambda name: found[name])


def activations(of: Dimensions, load: Load) -> float:
    """Bytes that the forward pass leaves for the backward pass.

    A layer with fused attention keeps, a token: each of two norms its fp32 input and its output; queries and keys before
    and after their norms and the rotation, and the values; the attention's output and its fp32 statistics; gate, up,
    the activated gate and the product. Layers without attention are counted as if they had it.
    """
    tokens = load.batch * load.sequence
    query, keys = of.heads * of.head_dim, of.kv_heads * of.head_dim
    w = load.width
    norms = 2 * (4 + w) * of.hidden
    attention = 3 * w * (query + keys) + w * keys + w * query + 4 * of.heads
    layer = norms + attention + 4 * w * of.intermediate
    kept = of.layers * w * of.hidden + layer if load.checkpointing else of.layers * layer
    return tokens * kept + _vision(of, load)


def _vision(of: Dimensions, load: Load) -> float:
    """The encoder's part: every block where it is trained, the working set of one where it is frozen."""
    eye = of.vision
    patches = load.batch * load.picture_tokens * eye.merge**2
    w = load.width
    block = 2 * (4 + w) * eye.hidden + 5 * w * eye.hidden + 2 * w * eye.intermediate
    if not load.vision_trained:
        return float(patches * block)
    kept = eye.layers * w * eye.hidden + block if load.checkpointing else eye.layers * block
    return float(patches * kept)


def _logits(of: Dimensions, load: Load) -> float:
    """All scores of sft. Of grpo: one tile, gradients of the hidden states and of the output layer, fp32 and as they are given on."""
    tokens = load.batch * load.scored
    if load.kind == "sft":
        return tokens * of.vocabulary * LOGIT_BYTES * load.width / 2
    rows, words = TILE
    tile = min(tokens, rows) * words * load.width
    head = of.embedding if load.head_trained else 0
    return tile + (tokens * of.hidden + head) * (4 + load.width)


def _gathered(weights: int, load: Load) -> float:
    """Stage 3 gathers the layers that it works on, at most ``live_parameters`` elements."""
    return float(min(weights, load.live_parameters) * load.width) if load.zero == 3 else 0.0


def _generation(of: Dimensions, weights: int, load: Load) -> float:
    """Generating oneself: the whole model gathered (stage 3), keys and values of every rollout."""
    if not load.generating:
        return 0.0
    whole = weights * load.width if load.zero == 3 else 0
    cache = load.generating * of.cache_bytes(load.sequence) * load.width / 2
    return whole + cache
