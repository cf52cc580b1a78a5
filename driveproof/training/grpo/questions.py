"""AD-MCQ as something to practise: DEFT's two turns and JEFT's one, with equal budgets of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.mcq.classes import HARD_CAUSAL
from driveproof.mcq.items import McqItem
from driveproof.policy.seeds import derive_seed
from driveproof.prompts import (
    PromptStyle,
    joint_messages,
    parse_choice,
    prompt_hash,
    render_options_turn,
    scene_messages,
    shown_images,
)
from driveproof.rewards.reward import Pending, Reward, Rollout
from driveproof.training.digest import digest
from driveproof.training.grpo.task import Interaction, Opening


@dataclass(frozen=True)
class TwoTurn:
    """DEFT (section 4.1): reasoning and decision from the scene alone, then the candidates, then the choice.

    ``max_tokens`` is the limit of each turn.
    """

    style: PromptStyle
    max_tokens: int
    turns = 2

    @property
    def budget(self) -> int:
        """Tokens of each turn."""
        return self.max_tokens

    def opening(self, question: McqItem) -> Opening:
        """A function of the observation: the candidates cannot be in it."""
        messages = scene_messages(question.observation, self.style)
        return Opening(messages, _images(question, self.style))

    def reveal(self, question: McqItem, replies: Sequence[str]) -> str:
        """The shuffled candidates, whatever was said."""
        return render_options_turn(question.options, self.style)

    def finish(self, question: McqItem, replies: Sequence[str]) -> Rollout:
        """The choice is read from the second turn alone."""
        return _rollout(question, replies[0], replies[1])


@dataclass(frozen=True)
class Joint:
    """JEFT: the candidates are there from the outset, and the one turn may be as long as DEFT's two together."""

    style: PromptStyle
    max_tokens: int
    turns = 1

    @property
    def budget(self) -> int:
        """Tokens of the one turn."""
        return 2 * self.max_tokens

    def opening(self, question: McqItem) -> Opening:
        """Scene and candidates."""
        messages = joint_messages(question.observation, question.options, self.style)
        return Opening(messages, _images(question, self.style))

    def reveal(self, question: McqItem, replies: Sequence[str]) -> str:
        """There is nothing to reveal."""
        raise ValueError("a joint rollout has one turn")

    def finish(self, question: McqItem, replies: Sequence[str]) -> Rollout:
        """The choice is read from the one turn."""
        return _rollout(question, replies[0], None)


class McqTask:
    """Questions of AD-MCQ and a reward.

    Parameters
    ----------
    items
        Train questions.
    interaction
        :class:`TwoTurn` or :class:`Joint`.
    reward
        Pays finished rollouts.
    style
        Of the prompts, and of the model that is trained.
    hard_share
        Share of the schedule that is drawn evenly from the hard-causal classes, as in supervised training.
    known
        What the reward knows of scenes, by record key; for the fingerprint.

    Raises
    ------
    BadInput
        If there are no items, or some have no pictures although the style shows them.
    """

    def __init__(
        self,
        items: Sequence[McqItem],
        interaction: Interaction[McqItem, Rollout],
        reward: Reward,
        style: PromptStyle,
        hard_share: float = 0.0,
        known: Mapping[str, Any] | None = None,
    ) -> None:
        if not items:
            raise BadInput("no questions to practise")
        blind = [item.record_key for item in items if not _images(item, style)]
        if style.frames and blind:
            raise BadInput("question without pictures", field=blind[0], hint="or frames: 0")
        self._items = list(items)
        self.interaction = interaction
        self._reward, self._style, self._hard_share = reward, style, hard_share
        self._known = known or {}

    def schedule(self, count: int, seed: int) -> list[int]:
        """See :func:`draw_numbers`."""
        return draw_numbers(self._items, count, self._hard_share, seed)

    def question(self, number: int) -> McqItem:
        """The item of that number."""
        return self._items[number]

    def start_reward(self, finished: Sequence[Rollout]) -> Pending:
        """The reward's own."""
        return self._reward.start(finished)

    def valid(self, finished: Rollout) -> bool:
        """Whether there is a choice."""
        return finished.choice is not None

    def sample(self, number: int, finished: Rollout) -> Mapping[str, Any]:
        """The rollout and the class of its question."""
        return {**asdict(finished), "drive_class": self._items[number].drive_class}

    def fingerprint(self, numbers: Sequence[int]) -> str:
        """Of the questions, how they are talked through, and what the reward knows of their scenes."""
        items = [self._items[number] for number in sorted(set(numbers))]
        known = {item.record_key: self._known.get(item.record_key) for item in items}
        return digest(items, self.interaction, self._style, self._reward.name, known)

    def identity(self) -> dict[str, Any]:
        """The prompt style, as supervised training writes it, and the reward's name."""
        style = self._style
        return {
            "style": style.verbosity,
            "decimals": style.decimals,
            "frames": style.frames,
            "waypoint_every": style.waypoint_every,
            "cameras": list(style.cameras),
            "prompt_hash": prompt_hash(style),
            "reward": self._reward.name,
            "interaction": type(self.interaction).__name__,
        }


def draw_numbers(items: Sequence[McqItem], count: int, hard_share: float, seed: int) -> list[int]:
    """``count`` numbers of ``items``, drawn independently; ``hard_share`` of them evenly from the hard-causal classes."""
    rng = np.random.default_rng(derive_seed(seed, "grpo schedule"))
    classes = np.array([item.drive_class for item in items])
    found = [np.flatnonzero(classes == name.value) for name in sorted(HARD_CAUSAL)]
    hard = [members for members in found if len(members)]

    def number() -> int:
        if hard and rng.random() < hard_share:
            return int(rng.choice(hard[int(rng.integers(len(hard)))]))
        return int(rng.integers(len(items)))

    return [number() for _ in range(count)]


def _images(item: McqItem, style: PromptStyle) -> list[Any]:
    return [image.ref for image in shown_images(item.observation, style)]


def _rollout(item: McqItem, turn1: str, turn2: str | None) -> Rollout:
    choice = parse_choice(turn1 if turn2 is None else turn2, item.n_options).index
    return Rollout(
        record_key=item.record_key,
        variant=item.variant,
        turn1=turn1,
        turn2=turn2,
        choice=choice,
        correct=choice == item.oracle_index,
        n_options=item.n_options,
    )
