"""The direct trajectory-token diagnostic (DEFT-RLVR, appendix D.6): a model that names its trajectory by a token.

One token a code of the codebook is added to the vocabulary; the student emits the oracle's token, alone or after its
reasons, and the code behind it is the predicted trajectory. What limits such a model is compared with what the codebook
itself loses: the distance between a logged future and its nearest code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.codebook import TrajectoryCodebook
from driveproof.codebook.metrics import displacement_errors
from driveproof.config.distill import DistillParams
from driveproof.errors import BadInput
from driveproof.evaluation.statistics import bootstrap_mean
from driveproof.mcq import McqItem
from driveproof.mcq.candidates import record_rng
from driveproof.policy import ChatPolicy, ChatRequest
from driveproof.prompts import Message, prompt_hash, scene_messages, shown_images
from driveproof.prompts.messages import text_message
from driveproof.scene import ImageRef, Observation, Scene
from driveproof.training.distill import style_of
from driveproof.training.examples import PHRASES
from driveproof.training.lessons import Example
from driveproof.training.targets import teacher_plan, teacher_turn1

ASK = "\nAnswer with the one token of your trajectory."
ASK_REASONS = "\nAnswer with your reasons, then with the one token of your trajectory."
_TOKEN = re.compile(r"<traj_(\d+)>")


def token_of(code: int) -> str:
    """The text of a code's token."""
    return f"<traj_{code}>"


def parse_token(text: str | None, codes: int) -> int | None:
    """The code that an answer ends in, None if it names none of ``codes``."""
    found = _TOKEN.findall(text or "")
    if not found or len(found[-1]) > 9 or int(found[-1]) >= codes:
        return None
    return int(found[-1])


def question(observation: Observation, params: DistillParams, reasons: bool) -> list[Message]:
    """The scene as in turn 1, and what to answer with."""
    messages = scene_messages(observation, style_of(params))
    content = [*messages[-1]["content"], {"type": "text", "text": ASK_REASONS if reasons else ASK}]
    return [*messages[:-1], {**messages[-1], "content": content}]


def manner_of(codebook: TrajectoryCodebook, params: DistillParams, reasons: bool) -> dict[str, Any]:
    """How a model of tokens must be asked, and which trajectories its tokens mean."""
    asked = f"{prompt_hash(style_of(params))}{ASK_REASONS if reasons else ASK}"
    codes = np.ascontiguousarray(codebook.codes_, dtype="<f4")
    return {
        "style": params.style,
        "trajectory_tokens": len(codes),
        "reasons": reasons,
        "prompt_hash": hashlib.sha256(asked.encode()).hexdigest(),
        "codebook_hash": hashlib.sha256(codes.tobytes()).hexdigest(),
    }


def check_tokens(
    folder: str | Path,
    trained: Mapping[str, Any],
    codebook: TrajectoryCodebook,
    params: DistillParams,
) -> bool:
    """Whether the model of ``folder`` was taught to give reasons.

    Parameters
    ----------
    trained
        What its ``driveproof.json`` says.

    Raises
    ------
    BadInput
        If it knows no tokens, those of another codebook, or other prompts: its errors would be wrong in silence.
    """
    reasons = bool(trained.get("reasons"))
    wanted = manner_of(codebook, params, reasons)
    problems = {
        "trajectory_tokens": f"has no tokens for {wanted['trajectory_tokens']} codes",
        "codebook_hash": "its tokens are those of another codebook, or it does not say of which",
        "prompt_hash": "was trained with other prompts",
    }
    hints = {
        "codebook_hash": "name the codebook of its training with --codebook, or train it anew",
        "prompt_hash": "distill.style, decimals, frames and waypoint_every as at its training",
    }
    for name, problem in problems.items():
        if trained.get(name) != wanted[name]:
            raise BadInput(problem, path=folder, field=name, hint=hints.get(name))
    return reasons


class TokenLessons:
    """Scenes and the tokens of their logged futures, epoch by epoch.

    Parameters
    ----------
    items, scenes
        Questions (their candidates are not used), and their scenes by record key.
    reasons
        Whether the expert's reasons precede the token. They are those of the logged drive, which makes them a
        rationalisation, as in the paper's setting "w/ CoT".
    """

    def __init__(
        self,
        items: Sequence[McqItem],
        scenes: Mapping[str, Scene],
        codebook: TrajectoryCodebook,
        params: DistillParams,
        seed: int,
        reasons: bool,
    ) -> None:
        missing = [item.record_key for item in items if item.record_key not in scenes]
        if missing or not items:
            raise BadInput("question without its scene", field=missing[0] if missing else "")
        self._items, self._params, self._seed, self._reasons = items, params, seed, reasons
        self.codes, self._codebook = len(codebook.codes_), codebook
        targets = codebook.encode(np.stack([item.waypoints for item in items]))
        said = [
            f"{teacher_turn1(teacher_plan(scenes[i.record_key]))}\n" if reasons else ""
            for i in items
        ]
        self._answers = [
            f"{text}{token_of(int(code))}" for text, code in zip(said, targets, strict=True)
        ]

    @property
    def phrases(self) -> tuple[str, ...]:
        """The tokens of the codes, and what the tiny model says often."""
        return (*self.tokens, *PHRASES)

    @property
    def tokens(self) -> tuple[str, ...]:
        """One a code."""
        return tuple(token_of(code) for code in range(self.codes))

    @property
    def steps(self) -> int:
        """Batches."""
        return self._params.steps

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index``; every scene comes once an epoch."""
        epoch, place = divmod(index, len(self._items))
        order = record_rng(self._seed, str(epoch), "tokens").permutation(len(self._items))
        number = int(order[place])
        observation = self._items[number].observation
        asked = question(observation, self._params, self._reasons)
        images = [image.ref for image in shown_images(observation, style_of(self._params))]
        return Example([*asked, text_message("assistant", self._answers[number])], images)

    def images(self) -> list[ImageRef]:
        """Every picture, archive by archive."""
        style = style_of(self._params)
        shown = {i.ref for item in self._items for i in shown_images(item.observation, style)}
        return sorted(shown, key=str)

    def corpus(self) -> list[str]:
        """Every word."""
        texts = list(self._answers)
        for item in self._items:
            for message in question(item.observation, self._params, self._reasons):
                texts += [part["text"] for part in message["content"] if part["type"] == "text"]
        return texts

    def identity(self) -> dict[str, Any]:
        """How the model must be asked; its hash is no policy's that chooses among candidates."""
        return manner_of(self._codebook, self._params, self._reasons)


def extend_vocabulary(base: str | Path, out: str | Path, tokens: Sequence[str], seed: int) -> None:
    """Write the model folder ``base`` with ``tokens`` added to its vocabulary, their embeddings random by ``seed``.

    Raises
    ------
    BadInput
        If there is no such model.
    """
    import torch

    from driveproof.files import atomic_dir
    from driveproof.policy.tiny import load_processor
    from driveproof.training.sft import load_model

    model, processor = load_model(base), load_processor(base)
    kit: Any = processor
    kit.tokenizer.add_tokens(list(tokens))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model.resize_token_embeddings(len(kit.tokenizer), mean_resizing=False)
    with atomic_dir(out) as folder:
        model.save_pretrained(folder)
        kit.save_pretrained(folder)


def score_tokens(
    policy: ChatPolicy,
    items: Sequence[McqItem],
    codebook: TrajectoryCodebook,
    params: DistillParams,
    seed: int,
    reasons: bool,
) -> dict[str, Any]:
    """ADE and FDE in metres over the whole horizon, greedy, with what the codebook loses, and what could not be read.

    An answer without a token is a parse failure and one that never came is lost; neither has an error in metres, and
    the means are over the others.
    """
    style = style_of(params)
    requests = [
        ChatRequest(
            messages=question(item.observation, params, reasons),
            images=[image.ref for image in shown_images(item.observation, style)],
            max_tokens=params.teacher.max_tokens if reasons else 4,
        )
        for item in items
    ]
    replies = policy.reply(requests)
    codes = [parse_token(reply.text, len(codebook.codes_)) for reply in replies]
    logged = np.stack([item.waypoints for item in items])
    read = np.array([code is not None for code in codes])
    predicted = codebook.decode(np.array([code or 0 for code in codes]))
    floor = codebook.decode(codebook.encode(logged))
    scenes = [item.scene_key for item in items]

    def errors(of: Any, kept: Any) -> dict[str, Any]:
        both = zip(("ade", "fde"), displacement_errors(logged, of), strict=True)
        return {
            name: asdict(bootstrap_mean(np.where(kept, value, np.nan), seed, clusters=scenes))
            for name, value in both
        }

    failed = [
        reply.text is not None and code is None for reply, code in zip(replies, codes, strict=True)
    ]
    return {
        "questions": len(items),
        "lost": sum(reply.text is None for reply in replies),
        "parse_failures": sum(failed),
        "predicted": errors(predicted, read),
        "codebook": errors(floor, np.ones(len(items), dtype=bool)),
    }
