"""Computing once what requests of a session begin with: their pictures, and the words before they part.

The keys and values of the common beginning are computed for one row, kept, and laid under every row that goes on from
it. A later call of the session that begins with the same tokens and the same pictures starts where they end. Positions
are those of the whole prompt (Qwen's three-dimensional ones included), so an answer is the one that the whole prompt
gives, up to the rounding of sums in another order.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

    from driveproof.scene.images import Pixels

_ROW = ("input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids")
"""What a processor gives a token at a time; all else belongs to the pictures."""


@dataclass(frozen=True)
class Prompt:
    """One request as its processor gave it: tensors of one row without padding, and the hashes of its pictures."""

    inputs: Mapping[str, Any]
    pictures: tuple[str, ...]

    @property
    def ids(self) -> list[int]:
        """The tokens."""
        found: list[int] = self.inputs["input_ids"][0].tolist()
        return found


@dataclass(frozen=True)
class _Trunk:
    """A beginning that was computed: tokens, pictures, and a layer's keys and values ``[1, heads, tokens, width]``."""

    ids: list[int]
    pictures: tuple[str, ...]
    layers: list[tuple[torch.Tensor, torch.Tensor]]


class PrefixMemory:
    """Answers prompts that begin alike, and remembers the last beginning of each session.

    Parameters
    ----------
    model
        A transformers model that generates.
    sessions
        How many sessions are remembered; the one unused longest is forgotten first.
    """

    def __init__(self, model: Any, sessions: int = 4) -> None:
        self._model, self._sessions = model, sessions
        self._kept: OrderedDict[str, _Trunk] = OrderedDict()
        config = model.config
        self._image_token = getattr(
            config, "image_token_id", getattr(config, "image_token_index", None)
        )

    def generate(
        self, session: str, prompts: Sequence[Prompt], max_new_tokens: int, **options: Any
    ) -> tuple[torch.Tensor, list[int]] | None:
        """Generate for prompts with the same pictures.

        Returns
        -------
        New tokens ``[B, N]``, and how many tokens of each prompt were computed now: the common beginning counts with
        the first. None where nothing can be shared: the prompts part before their pictures end, or the model keeps its
        past in another way than token by token.
        """
        first = prompts[0]
        ids = [prompt.ids for prompt in prompts]
        length = min(_common(ids), min(map(len, ids)) - 1)  # each row needs a token of its own
        shown = self._end_of_pictures(first)
        longest = max(map(len, ids)) + max_new_tokens
        if shown is None or length < max(shown, 1) or not self._keeps_tokens(longest):
            return None
        trunk, computed = self._trunk(session, first, length, shown)
        tokens = self._go_on(trunk, prompts, max_new_tokens=max_new_tokens, **options)
        prefilled = [len(row) - length for row in ids]
        prefilled[0] += computed
        return tokens, prefilled

    def _trunk(self, session: str, prompt: Prompt, length: int, shown: int) -> tuple[_Trunk, int]:
        """The first ``length`` tokens, and how many of them had to be computed."""
        ids = prompt.ids[:length]
        kept = self._kept.pop(session, None)
        known = 0
        if kept is not None and kept.pictures == prompt.pictures:
            known = _common([kept.ids, ids])
        if kept is None or known < shown:
            known, layers = 0, None
        else:
            layers = [(k[:, :, :known], v[:, :, :known]) for k, v in kept.layers]
        if known < length:
            layers = self._compute(prompt, known, length, layers)
        assert layers is not None
        trunk = _Trunk(ids, prompt.pictures, layers)
        self._kept[session] = trunk
        if len(self._kept) > self._sessions:
            self._kept.popitem(last=False)
        return trunk, length - known

    def _compute(
        self,
        prompt: Prompt,
        start: int,
        stop: int,
        layers: list[tuple[torch.Tensor, torch.Tensor]] | None,
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Keys and values of the tokens before ``stop``, of which ``layers`` hold those before ``start``."""
        inputs = dict(prompt.inputs)
        pictures = {} if start else {k: v for k, v in inputs.items() if k not in _ROW}
        kinds = {k: inputs[k][:, start:stop] for k in _ROW[2:] if k in inputs and not start}
        cache = self._cache(layers, 1)
        self._model(
            input_ids=inputs["input_ids"][:, start:stop],
            attention_mask=inputs["attention_mask"][:, :stop],
            position_ids=self._positions(inputs)[..., start:stop],
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
            **pictures,
            **kinds,
        )
        return [(layer.keys, layer.values) for layer in cache.layers]

    def _go_on(self, trunk: _Trunk, prompts: Sequence[Prompt], **options: Any) -> torch.Tensor:
        """Generate from the trunk on; what is left of each prompt is padded on its left, behind the trunk."""
        import torch

        rows, length = len(prompts), len(trunk.ids)
        width = max(prompt.inputs["input_ids"].shape[1] for prompt in prompts)
        padding = options.pop("pad_token_id")
        ids = torch.full((rows, width), padding, device=self._model.device)
        mask = torch.zeros((rows, width), dtype=torch.long, device=self._model.device)
        kinds = torch.zeros_like(mask)
        ids[:, :length] = prompts[0].inputs["input_ids"][0, :length]
        mask[:, :length] = 1
        for row, prompt in enumerate(prompts):
            rest = prompt.inputs["input_ids"][0, length:]
            ids[row, width - len(rest) :] = rest
            mask[row, width - len(rest) :] = 1
        batch: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if "mm_token_type_ids" in prompts[0].inputs:
            kinds[:, :length] = prompts[0].inputs["mm_token_type_ids"][0, :length]
            batch["mm_token_type_ids"] = kinds
        if "image_grid_thw" in prompts[0].inputs:
            batch["image_grid_thw"] = prompts[0].inputs["image_grid_thw"].repeat(rows, 1)
        output: torch.Tensor = self._model.generate(
            input_ids=ids,
            attention_mask=mask,
            position_ids=self._positions(batch),
            past_key_values=self._cache(trunk.layers, rows),
            pad_token_id=padding,
            **options,
        )
        return output[:, width:]

    def _positions(self, inputs: Mapping[str, Any]) -> torch.Tensor:
        """Positions ``[B, N]``, or ``[4, B, N]`` (text, then time, height, width) where the model tells them apart."""
        import torch

        mask = inputs["attention_mask"]
        text: torch.Tensor = (mask.long().cumsum(-1) - 1).masked_fill(mask == 0, 0)
        index = getattr(self._model.model, "get_rope_index", None)
        if index is None:
            return text
        known = inspect.signature(index).parameters
        given = {k: v for k, v in inputs.items() if k in known}
        seen, _ = index(**given)
        return torch.cat([text[None], seen])

    def _cache(self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]] | None, rows: int) -> Any:
        from transformers import DynamicCache

        # expanded, not copied: a cache grows by joining, so the trunk stays as it is
        data = [(k.expand(rows, -1, -1, -1), v.expand(rows, -1, -1, -1)) for k, v in layers or ()]
        return DynamicCache(data or None, config=self._model.config)

    def _keeps_tokens(self, longest: int) -> bool:
        """Whether every layer keeps the keys and values of all of ``longest`` tokens."""
        from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

        layers = self._cache(None, 1).layers
        plain = all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
        windows = [getattr(layer, "sliding_window", longest + 1) for layer in layers]
        return plain and all(longest < window for window in windows)

    def _end_of_pictures(self, prompt: Prompt) -> int | None:
        """The number of tokens up to the end of the last picture; None if it cannot be found."""
        if not prompt.pictures:
            return 0
        places = [i for i, token in enumerate(prompt.ids) if token == self._image_token]
        return places[-1] + 1 if places else None


def _common(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with."""
    length = min(map(len, rows))
    table = np.array([row[:length] for row in rows])
    differs = (table != table[0]).any(0)
    return int(differs.argmax()) if differs.any() else length


def picture_hash(picture: Pixels) -> str:
    """sha256 of a picture's shape and pixels."""
    return hashlib.sha256(f"{picture.shape}".encode() + picture.tobytes()).hexdigest()
