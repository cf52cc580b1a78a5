"""Stage ``rubrics``: data/mcq/train.parquet, data/scenes, data/raw -> data/rubrics."""

from __future__ import annotations

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.evaluation.facts import read_facts
from driveproof.mcq import read_items
from driveproof.rewards.commented import commented_facts
from driveproof.rewards.generate import make_rubrics, some_rubrics, summary_of, write_rubric_set

CACHE = ".cache/rubrics"
"""Replies of a model: a stage that was cut off asks only for what it lacks."""


def main() -> None:
    """Write what a good reason for each training scene has to say, from its past alone."""
    params = load_params()
    seen = [item.observation for item in read_items("data/mcq/train.parquet")]
    facts = read_facts("data/scenes", {observation.record_key for observation in seen})
    facts = commented_facts(facts, "data/raw")
    made = make_rubrics(seen, facts, params.rubrics, seed=params.seed, cache_dir=CACHE)
    write_rubric_set(some_rubrics(made), "data/rubrics")
    summary = summary_of(made)
    print(f"rubrics {summary['rubrics']}, criteria {summary['criteria']}, lost {summary['lost']}")


if __name__ == "__main__":
    run(main)
