"""From conversations to batches: tokens, labels of the assistant's words, pictures encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driveproof.errors import BadInput
from driveproof.policy.pictures import Pictures
from driveproof.scene import ImageRef
from driveproof.training.lessons import Example

IGNORED = -100
"""Label of a token that is not supervised (transformers' convention)."""
PAD_MULTIPLE = 16


class Encoder:
    """Encodes examples for one model; tokens and pictures go through its own processor.

    Parameters
    ----------
    processor
        The model's processor.
    pictures
        Where pixels come from.
    keep_dtype
        Torch dtype in which encoded pictures are kept in memory.
    keep
        Whether they are kept; else a picture is encoded whenever it is shown.
    """

    def __init__(
        self, processor: Any, pictures: Pictures, keep_dtype: Any, keep: bool = True
    ) -> None:
        self._processor = processor
        self._tokenizer = processor.tokenizer
        self._pictures = pictures
        self._dtype, self._keep = keep_dtype, keep
        self._encoded: dict[ImageRef, dict[str, Any]] = {}

    def preload(self, refs: Sequence[ImageRef]) -> None:
        """Encode pictures ahead; in the order of their archives this opens each archive once."""
        for ref in refs:
            self._picture(ref)

    def segments(self, example: Example) -> list[tuple[str, bool]]:
        """The conversation's text in pieces, each with whether it is supervised.

        A supervised piece is what the model has to write: the assistant's text and the mark that ends its turn.
        """
        messages = example.messages
        pieces: list[tuple[str, bool]] = []
        done = ""
        for position, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            before = self._render(messages[:position], prompt=True)
            after = self._render(messages[: position + 1], prompt=False)
            if not (before.startswith(done) and after.startswith(before)):
                raise BadInput("the chat template rewrites earlier turns, so they cannot be masked")
            answer = after[len(before) :]
            end = self._end_of_turn(answer)
            pieces += [(before[len(done) :], False), (answer[:end], True)]
            done = before + answer[:end]
        return pieces

    def encode(self, example: Example, longest: int = 0) -> dict[str, Any]:
        """``input_ids`` and ``labels`` as lists, and the encoded pictures.

        Raises
        ------
        BadInput
            If nothing supervised is left within ``longest`` tokens (0: no limit), beyond which an answer is cut off.
        """
        encoded = [self._picture(ref) for ref in example.images]
        counts = iter([picture["tokens"] for picture in encoded])
        ids: list[int] = []
        labels: list[int] = []
        for text, supervised in self.segments(example):
            piece = self._tokenizer(self._expand(text, counts), add_special_tokens=False)
            ids += piece["input_ids"]
            labels += piece["input_ids"] if supervised else [IGNORED] * len(piece["input_ids"])
        if longest and len(ids) > longest:
            ids, labels, rest = ids[:longest], labels[:longest], ids[longest:]
            if self._image_id() in rest or not any(label != IGNORED for label in labels):
                raise BadInput(
                    f"a prompt alone is longer than {longest} tokens", field="launch.sequence"
                )
        return {"input_ids": ids, "labels": labels, "pictures": encoded}

    def collate(self, encoded: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Right-padded tensors ``[B, L]``, L a multiple of ``PAD_MULTIPLE``, and stacked pictures."""
        import torch

        longest = max(len(example["input_ids"]) for example in encoded)
        width = -(-longest // PAD_MULTIPLE) * PAD_MULTIPLE
        shape = (len(encoded), width)
        ids = torch.full(shape, self._tokenizer.pad_token_id)
        labels = torch.full(shape, IGNORED)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, example in enumerate(encoded):
            n = len(example["input_ids"])
            ids[row, :n] = torch.tensor(example["input_ids"])
            labels[row, :n] = torch.tensor(example["labels"])
            mask[row, :n] = 1
        batch = {"input_ids": ids, "attention_mask": mask, "labels": labels}
        is_image = (ids == self._image_id()).long()
        names = self._processor.model_input_names
        for name in ("mm_token_type_ids", "token_type_ids"):
            if name in names:
                batch[name] = is_image
        pictures = [picture for example in encoded for picture in example["pictures"]]
        if pictures:
            for name in pictures[0]["inputs"]:
                batch[name] = torch.cat([picture["inputs"][name] for picture in pictures])
        return batch

    def _render(self, messages: Sequence[Any], *, prompt: bool) -> str:
        text: str = self._processor.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=prompt
        )
        return text

    def _end_of_turn(self, answer: str) -> int:
        mark = self._tokenizer.eos_token
        found = answer.find(mark)
        return found + len(mark) if found >= 0 else len(answer)

    def _image_id(self) -> int:
        return int(self._processor.image_token_id)

    def _expand(self, text: str, counts: Any) -> str:
        """Repeat each image token as often as the picture has tokens, in the way of the processor."""
        token = placeholder(self._processor)
        first, *rest = text.split(token)
        return first + "".join(_full(self._processor, next(counts)) + part for part in rest)

    def _picture(self, ref: ImageRef) -> dict[str, Any]:
        found = self._encoded.get(ref)
        if found is None:
            inputs = self._processor.image_processor(
                images=[self._pictures.pixels(ref)], return_tensors="pt"
            )
            wanted = {
                name: inputs[name].to(self._dtype)
                if inputs[name].is_floating_point()
                else inputs[name]
                for name in ("pixel_values", "image_grid_thw")
                if name in inputs
            }
            found = {"inputs": wanted, "tokens": _count(self._processor, inputs)}
            if self._keep:
                self._encoded[ref] = found
        return found


def placeholder(processor: Any) -> str:
    """What the chat template writes where a picture goes."""
    return str(getattr(processor, "boi_token", None) or processor.image_token)


def _full(processor: Any, tokens: int) -> str:
    sequence = getattr(processor, "full_image_sequence", None)
    return str(sequence) if sequence else processor.image_token * tokens


def _count(processor: Any, inputs: Any) -> int:
    if "image_grid_thw" not in inputs:
        return int(processor.image_seq_length)
    merged = int(processor.image_processor.merge_size) ** 2
    return int(inputs["image_grid_thw"][0].prod()) // merged
