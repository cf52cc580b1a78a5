"""A vision-language model from a local folder, through transformers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput, UserError
from driveproof.files import sha256_file
from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.families import conversation, family_of, fit
from driveproof.policy.pictures import Pictures
from driveproof.policy.prefix import PrefixMemory, Prompt, picture_hash
from driveproof.policy.sampling import SeededSampler
from driveproof.policy.tiny import load_processor


@dataclass(frozen=True)
class _Prepared:
    """A request whose pictures could be loaded, and where it stands in the batch asked for."""

    position: int
    request: ChatRequest
    text: str
    pictures: list[Any]
    digests: tuple[str, ...] = ()
    """Of the pictures, where a session asks for them."""

    @property
    def beginning(self) -> tuple[str, tuple[str, ...]]:
        """Requests that are equal in this begin alike."""
        return self.request.session, self.digests


class TransformersPolicy:
    """Answers with a model folder (Qwen3-VL family, Gemma 3, and others that their processor serves).

    Only safetensors weights are loaded, no code of the folder is run, and nothing is fetched.

    Parameters
    ----------
    folder
        Weights, configuration, tokenizer, processor.
    pictures
        Where references of images start from.
    batch_size
        Most requests in one forward pass.
    threads
        CPU threads of torch, 0 for its own choice. A setting of the whole process.
    max_pixels
        Most pixels of a picture, 0: as the folder says.

    Raises
    ------
    BadInput
        If the folder is no such model, or its weights are truncated.
    """

    def __init__(
        self,
        folder: str | Path,
        pictures: Pictures | None = None,
        *,
        batch_size: int = 32,
        threads: int = 0,
        max_pixels: int = 0,
    ) -> None:
        import torch

        self._folder = Path(folder)
        self._pictures = pictures or Pictures()
        self._batch_size = batch_size
        if threads:
            torch.set_num_threads(threads)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._weights = sorted(self._folder.glob("*.safetensors"))
        if not self._weights:
            raise BadInput("no *.safetensors weights here", path=folder)
        self._family = family_of(folder)
        self._processor: Any = load_processor(folder, max_pixels)
        self._processor.tokenizer.padding_side = "left"
        self._model: Any = load_model(self._folder).to(self._device).eval()
        self._fitted = fit(self._family, self._processor, self._model)
        self._memory = PrefixMemory(self._model)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._folder.name

    def identity(self) -> dict[str, Any]:
        """Kind, architecture, ``revision`` (sha256 of the weights) and ``setup`` (of everything else read).

        ``fitted`` names what was changed of the folder's settings, if anything; see :func:`driveproof.policy.families.fit`.
        """
        setup = sorted(p for p in self._folder.iterdir() if p.suffix in (".json", ".jinja"))
        return {
            "kind": "transformers",
            "model": self.name,
            "architecture": type(self._model).__name__,
            "revision": _digest(self._weights),
            "setup": _digest(setup),
            **({"fitted": self._fitted} if self._fitted else {}),
        }

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer in batches of similar length; a request whose pictures are missing is lost alone.

        Requests of one session share the computation of what they begin with (:mod:`driveproof.policy.prefix`); those
        without a session are computed whole, as they always were.
        """
        replies: list[ChatReply] = [ChatReply(None, "not answered")] * len(requests)
        ready: list[_Prepared] = []
        for position, request in enumerate(requests):
            try:
                ready.append(self._prepare(position, request))
            except UserError as error:
                replies[position] = ChatReply(None, str(error))
        # similar lengths together: less padding; the order among equals is the order asked
        ready.sort(key=lambda r: (r.request.max_tokens, len(r.text), r.position))
        alone = [prepared for prepared in ready if not prepared.request.session]
        together = [prepared for prepared in ready if prepared.request.session]
        for batch in self._batches(alone):
            for prepared, answer in zip(batch, self._generate(batch), strict=True):
                replies[prepared.position] = answer
        together.sort(key=lambda r: r.beginning)
        for _, group in groupby(together, key=lambda r: r.beginning):
            for batch in self._batches(list(group)):
                shared = self._generate_together(batch)
                for prepared, answer in zip(batch, shared, strict=True):
                    replies[prepared.position] = answer
        return replies

    def _batches(self, prepared: Sequence[_Prepared]) -> Iterator[list[_Prepared]]:
        for start in range(0, len(prepared), self._batch_size):
            yield list(prepared[start : start + self._batch_size])

    def _prepare(self, position: int, request: ChatRequest) -> _Prepared:
        pictures = [self._pictures.pixels(image) for image in request.images]
        text = self._processor.apply_chat_template(
            conversation(self._family, request.messages), tokenize=False, add_generation_prompt=True
        )
        digests = tuple(map(picture_hash, pictures)) if request.session else ()
        return _Prepared(position, request, text, pictures, digests)

    def _encode(self, batch: Sequence[_Prepared]) -> Any:
        pictures = [prepared.pictures for prepared in batch]
        return self._processor(
            text=[prepared.text for prepared in batch],
            images=pictures if any(pictures) else None,
            padding=True,
            add_special_tokens=False,
            return_tensors="pt",
        ).to(self._device)

    def _generate_together(self, batch: list[_Prepared]) -> list[ChatReply]:
        """Answer requests of a session with the same pictures; their usage says how many tokens were computed."""
        import torch

        start = time.monotonic()
        requests = [prepared.request for prepared in batch]
        prompts = [Prompt(self._encode([prepared]), prepared.digests) for prepared in batch]
        lengths = [len(prompt.ids) for prompt in prompts]
        longest = max(request.max_tokens for request in requests)
        found = None
        try:
            with torch.inference_mode():
                if not self._too_long(max(lengths) + longest):
                    found = self._memory.generate(
                        requests[0].session,
                        prompts,
                        max_new_tokens=longest,
                        do_sample=False,
                        logits_processor=[SeededSampler(requests)],
                        pad_token_id=self._processor.tokenizer.pad_token_id,
                    )
        except torch.OutOfMemoryError as error:
            return [ChatReply(None, str(error).splitlines()[0])] * len(batch)
        if found is None:
            return [_all_prefilled(reply) for reply in self._generate(batch)]
        output, prefilled = found
        seconds = (time.monotonic() - start) / len(batch)
        replies = [
            self._read(output[row, : request.max_tokens], lengths[row], seconds)
            for row, request in enumerate(requests)
        ]
        return [
            replace(reply, usage={**reply.usage, "prefilled_tokens": count})
            for reply, count in zip(replies, prefilled, strict=True)
        ]

    def _generate(self, batch: list[_Prepared]) -> list[ChatReply]:
        import torch

        start = time.monotonic()
        requests = [prepared.request for prepared in batch]
        inputs = self._encode(batch)
        width = inputs["input_ids"].shape[1]
        longest = max(request.max_tokens for request in requests)
        problem = self._too_long(width + longest)
        if problem:
            return [ChatReply(None, problem)] * len(batch)
        try:
            with torch.inference_mode():
                output = self._model.generate(
                    **inputs,
                    max_new_tokens=longest,
                    do_sample=False,
                    logits_processor=[SeededSampler(requests)],
                )
        except torch.OutOfMemoryError as error:
            return [ChatReply(None, str(error).splitlines()[0])] * len(batch)
        seconds = (time.monotonic() - start) / len(batch)
        prompt = inputs["attention_mask"].sum(1).tolist()
        return [
            self._read(output[row, width : width + request.max_tokens], prompt[row], seconds)
            for row, request in enumerate(requests)
        ]

    def _too_long(self, tokens: int) -> str:
        text = getattr(self._model.config, "text_config", self._model.config)
        limit = getattr(text, "max_position_embeddings", None)
        if limit is None or tokens <= limit:
            return ""
        return f"prompt and answer of {tokens} tokens exceed the context of {limit}"

    def _read(self, tokens: Any, prompt_tokens: int, seconds: float) -> ChatReply:
        tokenizer = self._processor.tokenizer
        used = int((tokens != tokenizer.pad_token_id).sum())
        usage = {"prompt_tokens": int(prompt_tokens), "completion_tokens": used}
        text = tokenizer.decode(tokens, skip_special_tokens=True).strip()
        return ChatReply(text, usage=usage, latency_s=seconds)


def _all_prefilled(reply: ChatReply) -> ChatReply:
    """The reply to a prompt that was computed whole."""
    if reply.text is None:
        return reply
    count = reply.usage["prompt_tokens"]
    return replace(reply, usage={**reply.usage, "prefilled_tokens": count})


def load_model(folder: Path, dtype: Any = "auto") -> Any:
    """A VLM from a local folder: safetensors only, no code of the folder is run, nothing is fetched.

    Parameters
    ----------
    dtype
        Of the weights; "auto": as the folder says.

    Raises
    ------
    BadInput
        If there is none, or its weights are truncated.
    """
    import safetensors
    import transformers

    try:
        return transformers.AutoModelForImageTextToText.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=dtype,
        )
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RuntimeError,
        safetensors.SafetensorError,
    ) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(f"no model can be loaded: {problem}", path=folder) from None


def _digest(files: Iterable[Path]) -> str:
    parts = [f"{path.name} {sha256_file(path)}\n" for path in files]
    return hashlib.sha256("".join(parts).encode()).hexdigest()
