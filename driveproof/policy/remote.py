"""A model behind an OpenAI-compatible server (vLLM, ``transformers serve``, a hosted service)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from driveproof.errors import BadInput, UserError
from driveproof.policy.cache import ReplyCache, cache_key
from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.failures import is_outage
from driveproof.policy.pictures import Pictures
from driveproof.policy.punctual import body_deadline

if TYPE_CHECKING:
    from openai import OpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable of the API key, the only place it is read from; servers without one need none."""


MAX_REPLY_CHARS = 1_000_000
"""A longer answer is no answer to a question about driving."""


class OpenAIPolicy:
    """Answers through ``POST base_url/chat/completions``, with pictures as data URLs.

    Connection failures, time-outs, 408, 409, 429 and 5xx are retried with growing pauses, anything else is
    not. What still fails is a reply with ``error``; an ``outage`` unless the server found fault with what was asked
    (400, 413, 422) or answers without text.

    Parameters
    ----------
    base_url
        Up to and including ``/v1``.
    model
        Name of the model on that server.
    timeout_s
        Longest silence of the server within one attempt, and longest time that its answer may take to arrive
        once it has begun.
    attempts
        Most attempts for one request.
    concurrency
        Most requests under way at once.
    cache_dir
        Where to keep answers; None keeps none.
    pause_s
        First pause before a retry; doubles up to thirty seconds.

    Raises
    ------
    BadInput
        If the URL is not http(s), or carries credentials.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        pictures: Pictures | None = None,
        *,
        timeout_s: float = 120.0,
        attempts: int = 4,
        concurrency: int = 8,
        cache_dir: str | Path | None = None,
        pause_s: float = 0.5,
    ) -> None:
        import openai

        _check_url(base_url)
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._pictures = pictures or Pictures()
        self._attempts, self._concurrency, self._pause_s = attempts, concurrency, pause_s
        self._key = os.environ.get(KEY_VARIABLE, "")
        self._client: OpenAI = openai.OpenAI(
            base_url=self._base_url,
            api_key=self._key or "none",
            timeout=timeout_s,
            max_retries=0,  # tenacity retries, in one place
            http_client=openai.DefaultHttpxClient(
                timeout=timeout_s, event_hooks={"response": [body_deadline(timeout_s)]}
            ),
        )
        self.cache = ReplyCache(cache_dir) if cache_dir else None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    def identity(self) -> dict[str, Any]:
        """Kind, model and server. A server does not prove its weights, so there is no revision."""
        return {
            "kind": "openai",
            "model": self._model,
            "base_url": self._base_url,
            "revision": None,
        }

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer at most ``concurrency`` requests at a time, in the order asked."""
        if not requests:
            return []
        with ThreadPoolExecutor(min(self._concurrency, len(requests))) as pool:
            return list(pool.map(self._answer, requests))

    def _answer(self, request: ChatRequest) -> ChatReply:
        start = time.monotonic()
        try:
            key = cache_key(self._model, request, self._pictures) if self.cache else ""
            known = self.cache.get(key) if self.cache else None
            reply = known or self._ask(request)
            if self.cache and not known:
                self.cache.put(key, reply)
        except UserError as error:
            reply = ChatReply(None, str(error))
        seconds = 0.0 if reply.cached else time.monotonic() - start
        return replace(reply, latency_s=seconds)

    def _ask(self, request: ChatRequest) -> ChatReply:
        import openai
        import tenacity

        retry = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_retryable),
            stop=tenacity.stop_after_attempt(self._attempts),
            wait=tenacity.wait_exponential(self._pause_s, max=30.0),
            reraise=True,
        )
        messages = _with_pictures(request, self._pictures)
        try:
            completion = retry(
                self._client.chat.completions.create,
                model=self._model,
                messages=messages,
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                top_p=request.top_p,
                seed=request.seed,
                response_format=_format(request),
            )
        except openai.APIStatusError as error:
            outage = is_outage(error.status_code)
            return ChatReply(None, self._describe(error), outage=outage)
        # the server does not answer, or its body claims to be JSON and is none
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            return ChatReply(None, self._describe(error), outage=True)
        return _read(completion)

    def _describe(self, error: Exception) -> str:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        # some servers repeat the key they refuse
        return text.replace(self._key, "***") if self._key else text


def _format(request: ChatRequest) -> Any:
    """How the answer must look, in the protocol's form; left out for plain text."""
    import openai

    if request.schema is None:
        return openai.omit
    schema = {"name": "answer", "strict": True, "schema": request.schema}
    return {"type": "json_schema", "json_schema": schema}


def _check_url(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = parts.username is not None or parts.password is not None
    except ValueError:
        good = secret = False
    if secret:
        raise BadInput(
            "the server's URL holds credentials", hint=f"put the key into {KEY_VARIABLE}"
        )
    if not good:
        raise BadInput(f"not a server's URL: {base_url}", hint="http://host:8000/v1")


def _is_retryable(error: BaseException) -> bool:
    import openai

    if isinstance(error, openai.APIConnectionError):  # time-outs are a kind of it
        return True
    return isinstance(error, openai.APIStatusError) and (
        error.status_code in (408, 409, 429) or error.status_code >= 500
    )


def _with_pictures(request: ChatRequest, pictures: Pictures) -> list[Any]:
    """The messages in the protocol's form: image parts become data URLs, plain texts plain strings."""
    images = iter(request.images)
    messages = []
    for message in request.messages:
        parts: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": pictures.data_url(next(images))}}
            if part["type"] == "image"
            else {"type": "text", "text": part["text"]}
            for part in message["content"]
        ]
        plain = len(parts) == 1 and parts[0]["type"] == "text"
        content = parts[0]["text"] if plain else parts
        messages.append({"role": message["role"], "content": content})
    return messages


def _read(completion: Any) -> ChatReply:
    from openai.types.chat import ChatCompletion

    if not isinstance(completion, ChatCompletion):
        return ChatReply(None, "the server's answer is not a chat completion", outage=True)
    choices = completion.choices
    text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
    if not isinstance(text, str):
        return ChatReply(None, "the server's answer holds no text")
    if len(text) > MAX_REPLY_CHARS:
        return ChatReply(None, f"the server's answer is longer than {MAX_REPLY_CHARS} characters")
    return ChatReply(text, usage=_usage(completion.usage))


def _usage(used: Any) -> dict[str, int]:
    """The token counts of a server that counts; what is no number is left out, whatever the server says.

    A server that reuses what it computed of earlier prompts (vLLM's prefix caching) may tell how much: the rest was
    prefilled now.
    """
    counts = {key: getattr(used, key, None) for key in ("prompt_tokens", "completion_tokens")}
    found = {key: value for key, value in counts.items() if type(value) is int}
    reused = getattr(getattr(used, "prompt_tokens_details", None), "cached_tokens", None)
    if type(reused) is int and 0 <= reused <= found.get("prompt_tokens", -1):
        found["prefilled_tokens"] = found["prompt_tokens"] - reused
    return found
