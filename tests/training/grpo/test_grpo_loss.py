"""The loss and its parts against what the equations say, computed by hand or in numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grpo_arena import Arena, Paid, settings, task

from driveproof.policy.pictures import Pictures

pytestmark = pytest.mark.slow

REWARDS = [
    *(1.0, 0.0, 0.0, 0.0),  # one of four
    *(0.5, 0.5, 1.0, 0.0),  # ties
    *(1.0, 1.0, 1.0, 1.0),  # all alike: nothing to learn
    *(0.0, 0.0, 0.0, 0.0),
]


@pytest.fixture(scope="module")
def trainer(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A trainer whose rewards are given."""
    from driveproof.training.grpo.train import _Ledger, _trainer

    params = settings(questions=4, micro_batch=16, advantage_clip=1.2, kl=0.05)
    practice = task(arena, Paid(lambda number, _: REWARDS[number % 16]))
    scratch = tmp_path_factory.mktemp("loss")
    made = _trainer(
        arena.start, practice, params, 0, scratch, Pictures(arena.folder), 0, lambda *_: None,
        _Ledger(scratch, practice, 4),
    )  # fmt: skip
    made.model.train()
    made.current_gradient_accumulation_steps = 1
    return made


@pytest.fixture(scope="module")
def batch(trainer: Any) -> dict[str, Any]:
    """Sixteen rollouts of four questions."""
    rows = [{"prompt": "", "number": number} for number in (0, 1, 2, 3) for _ in range(4)]
    return trainer._generate_and_score_completions(rows)


def numpy_grpo(
    logp: Any,
    ref: Any,
    old: Any,
    rewards: Any,
    mask: Any,
    group: int,
    clip: float,
    eps: float,
    beta: float,
) -> float:
    """GRPO from its equations: normalised and clipped advantages, clipped ratios, KL in the loss, mean over tokens."""
    grouped = np.asarray(rewards, dtype=np.float64).reshape(-1, group)
    centred = grouped - grouped.mean(1, keepdims=True)
    advantage = (
        (centred / (grouped.std(1, ddof=1, keepdims=True) + 1e-4)).clip(-clip, clip).reshape(-1, 1)
    )
    ratio = np.exp(logp - old)
    gain = np.minimum(ratio * advantage, ratio.clip(1 - eps, 1 + eps) * advantage)
    kl = np.exp(ref - logp) - (ref - logp) - 1
    return float(((beta * kl - gain) * mask).sum() / mask.sum())


def with_scores(trainer: Any, monkeypatch: pytest.MonkeyPatch, logp: Any) -> None:
    """Let the model's log-probabilities be ``logp``."""
    monkeypatch.setattr(
        trainer, "_get_per_token_logps_and_entropies", lambda *a, **k: (logp, logp.detach(), None)
    )


def test_advantages_are_normalised_in_the_group_and_clipped(batch: dict[str, Any]) -> None:
    # one of four: (1 - 1/4) / (1/2), (0 - 1/4) / (1/2); ties: deviations 0, 0, 1/2, -1/2 over 0.40825
    one = [0.75 / 0.5001, -0.25 / 0.5001, -0.25 / 0.5001, -0.25 / 0.5001]
    tie = 0.5 / (np.sqrt(1 / 6) + 1e-4)
    assert one[0] > 1.2
    assert tie > 1.2
    expected = [1.2, *one[1:], 0.0, 0.0, 1.2, -1.2, *[0.0] * 8]
    assert batch["advantages"].tolist() == pytest.approx(expected, abs=1e-5)


def test_the_loss_is_that_of_the_equations(
    trainer: Any, batch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    shape = batch["completion_ids"].shape
    rng = np.random.default_rng(1)
    logp, ref, old = (-rng.exponential(1.0, shape) for _ in range(3))
    mask = (batch["completion_mask"] * batch["tool_mask"]).numpy()
    given = {
        **batch,
        "old_per_token_logps": torch.tensor(old),
        "ref_per_token_logps": torch.tensor(ref),
        "num_items_in_batch": torch.tensor(mask.sum()),
        "advantages": batch["advantages"].double(),
    }
    with_scores(trainer, monkeypatch, torch.tensor(logp))
    ours = float(trainer._compute_loss(trainer.model, given))
    expected = numpy_grpo(logp, ref, old, REWARDS, mask, 4, 1.2, 0.2, 0.05)
    assert ours == pytest.approx(expected, rel=1e-5)
    # and it is not so because a part of it plays no role
    for changed in ({"beta": 0.0}, {"clip": 9.0}, {"eps": 9.0}, {"mask": np.ones(shape)}):
        named = {"mask": mask, "clip": 1.2, "eps": 0.2, "beta": 0.05, **changed}
        assert numpy_grpo(logp, ref, old, REWARDS, group=4, **named) != pytest.approx(
            ours, rel=1e-3
        )


def test_the_kl_term_is_its_formula(
    trainer: Any, batch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    shape = batch["completion_ids"].shape
    rng = np.random.default_rng(2)
    logp, ref = (-rng.exponential(1.0, shape) for _ in range(2))
    mask = (batch["completion_mask"] * batch["tool_mask"]).numpy()
    given = {**batch, "ref_per_token_logps": torch.tensor(ref), "advantages": torch.zeros(16)}
    with_scores(trainer, monkeypatch, torch.tensor(logp))
    loss = float(trainer._compute_loss(trainer.model, given))
    estimate = np.exp(ref - logp) - (ref - logp) - 1
    assert (estimate >= 0).all()
    assert loss == pytest.approx(0.05 * (estimate * mask).sum() / mask.sum(), rel=1e-5)


def test_injected_tokens_carry_no_gradient(
    trainer: Any, batch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    mask = (batch["completion_mask"] * batch["tool_mask"]).bool()
    injected = batch["completion_mask"].bool() & ~batch["tool_mask"].bool()
    assert injected.any(1).all()  # every rollout has some
    rng = torch.Generator().manual_seed(3)
    logp = -torch.rand(mask.shape, generator=rng)
    losses = []
    for scale in (0.0, 1.0, 50.0):
        noise = scale * torch.rand(mask.shape, generator=rng) * injected
        scores = (logp - noise).requires_grad_()
        given = {**batch, "ref_per_token_logps": batch["ref_per_token_logps"] - 3 * noise}
        with_scores(trainer, monkeypatch, scores)
        loss = trainer._compute_loss(trainer.model, given)
        loss.backward()
        assert torch.count_nonzero(scores.grad[~mask]) == 0
        assert torch.count_nonzero(scores.grad[mask]) > 0
        losses.append(loss.item())
    assert len(set(losses)) == 1  # bit-equal


def test_the_prompt_is_no_part_of_the_loss(trainer: Any, batch: dict[str, Any]) -> None:
    """The mask covers what came after the prompt only, and of it what the policy said."""
    own = (batch["completion_mask"] * batch["tool_mask"]).sum(1)
    assert own.tolist() == trainer.runner.batch.lengths
    assert int(batch["num_items_in_batch"]) == int(own.sum())


def test_a_micro_batch_is_a_share_of_the_token_mean(arena: Arena, tmp_path: Path) -> None:
    """Split into passes, the gradient is that of the whole batch: curves do not depend on the split."""
    from grpo_arena import vowels

    from driveproof.training.grpo.train import train_grpo

    curves = []
    for micro in (4, 8):
        run = train_grpo(
            arena.start, task(arena, Paid(vowels)), settings(micro_batch=micro), 0, tmp_path / f"m{micro}",
            scratch=tmp_path / f"s{micro}", root=arena.folder,
        )  # fmt: skip
        curves.append([row["grad_norm"] for row in run.curves])
    assert curves[0] == pytest.approx(curves[1], rel=2e-2)
