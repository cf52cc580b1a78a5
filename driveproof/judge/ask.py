"""Asking a vision-language model, any that talks: for gates (DriveJudge) or for a score at once (the baseline)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from driveproof.errors import UserError
from driveproof.judge.clips import Clip
from driveproof.judge.gates import Gates, mean_gates, parse_gates, parse_score
from driveproof.judge.prompt import JudgeStyle, Task, judge_messages
from driveproof.policy import ChatPolicy, ChatReply, ChatRequest, derive_seed
from driveproof.policy.cache import ReplyCache, cache_key
from driveproof.policy.pictures import Pictures

_FULL = JudgeStyle()
CHUNK = 64
"""Requests that are handed over at once."""


@dataclass(frozen=True)
class Asking:
    """How a model is asked: style, how often each clip, sampling, longest answer."""

    style: JudgeStyle = _FULL
    repeats: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0


@dataclass
class Answers:
    """What a model said of clips, by clip key.

    ``gates`` and ``scores`` are means over the readable answers, None where there is none; ``texts`` are the answers
    themselves (None: lost). ``invalid`` counts unreadable answers by reason, ``lost`` failures of the model by text.
    """

    task: Task
    gates: dict[str, Gates | None] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)
    texts: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    asked: int = 0
    cached: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


def ask(
    policy: ChatPolicy,
    clips: Sequence[Clip],
    task: Task,
    asking: Asking | None = None,
    *,
    pictures: Pictures | None = None,
    cache_dir: str | Path | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Answers:
    """Ask about every clip.

    Parameters
    ----------
    pictures
        Where references of frames start from, for the key of the cache.
    cache_dir
        Answers are kept there by everything they depend on (model, question, pictures, sampling); None keeps none.
    progress
        Called with the number of answers that came in.
    """
    asking = asking or Asking()
    pictures = pictures or Pictures()
    answers = Answers(task)
    requests = [
        (clip.key, _request(clip, task, asking, repeat))
        for clip in clips
        for repeat in range(asking.repeats)
    ]
    replies: dict[str, list[ChatReply]] = {clip.key: [] for clip in clips}
    cache = ReplyCache(cache_dir) if cache_dir is not None else None
    try:
        for (key, _), reply in zip(
            requests,
            _replies(policy, [request for _, request in requests], cache, pictures, progress),
            strict=True,
        ):
            replies[key].append(reply)
    finally:
        if cache is not None:
            cache.close()
    for key, several in replies.items():
        _read(answers, key, several)
    return answers


def _request(clip: Clip, task: Task, asking: Asking, repeat: int) -> ChatRequest:
    """The question; a clip with fewer frames than asked for shows those it has."""
    shown = clip.frames[-asking.style.frames :]
    style = JudgeStyle(asking.style.verbosity, max(len(shown), 1))
    messages = judge_messages(task, style)
    if not shown:  # a clip without pictures is a question without them: the model says what it can
        messages[-1]["content"] = [p for p in messages[-1]["content"] if p["type"] == "text"]
    return ChatRequest(
        messages,
        shown,
        max_tokens=asking.max_tokens,
        temperature=asking.temperature,
        top_p=asking.top_p,
        seed=derive_seed(asking.seed, task, clip.key, repeat),
    )


def _replies(
    policy: ChatPolicy,
    requests: Sequence[ChatRequest],
    cache: ReplyCache | None,
    pictures: Pictures,
    progress: Callable[[int], None],
) -> Iterator[ChatReply]:
    name = str(sorted(policy.identity().items()))
    for start in range(0, len(requests), CHUNK):
        chunk = requests[start : start + CHUNK]
        keys = [_key(name, each, pictures) if cache is not None else "" for each in chunk]
        found = [cache.get(key) if cache is not None and key else None for key in keys]
        missing = [each for each, reply in zip(chunk, found, strict=True) if reply is None]
        fresh = iter(policy.reply(missing) if missing else [])
        for n, reply in enumerate(found):
            known = reply if reply is not None else next(fresh)
            if cache is not None and keys[n] and reply is None:
                cache.put(keys[n], known)
            yield known
        progress(len(chunk))


def _key(name: str, request: ChatRequest, pictures: Pictures) -> str:
    """The key of an answer; "" if a picture is missing, which the model is then to say."""
    try:
        return cache_key(name, request, pictures)
    except UserError:
        return ""


def _read(answers: Answers, key: str, replies: Sequence[ChatReply]) -> None:
    answers.asked += len(replies)
    answers.cached += sum(reply.cached for reply in replies)
    answers.lost.update(reply.error for reply in replies if reply.error)
    answers.texts[key] = tuple(reply.text for reply in replies)
    texts = [reply.text for reply in replies if not reply.error]
    if answers.task == "gate":
        gates = [parse_gates(text) for text in texts]
        answers.invalid.update(each.reason for each in gates if each.reason)
        read = [each.gates for each in gates if each.gates is not None]
        answers.gates[key] = mean_gates(read) if read else None
    else:
        scores = [parse_score(text) for text in texts]
        answers.invalid.update(each.reason for each in scores if each.reason)
        given = [each.score for each in scores if each.score is not None]
        answers.scores[key] = sum(given) / len(given) if given else None
