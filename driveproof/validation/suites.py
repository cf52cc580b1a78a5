"""What is expected of each table: one name, one sentence and one expectation each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from driveproof.config.validate import ValidateParams
from driveproof.mcq.classes import HARD_CAUSAL, DriveClass
from driveproof.questions import QUESTIONS, DirectionKey, SpeedKey
from driveproof.scene.types import FUTURE_TIMES, HISTORY_TIMES, Command

DRIVE_CLASSES = tuple(sorted(str(drive_class) for drive_class in DriveClass))
HARD_CLASSES = tuple(sorted(str(drive_class) for drive_class in HARD_CAUSAL))
"""Classes of table 8 that dev and test questions come from (DEFT-RLVR, appendix D.1)."""
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Expect:
    """One expectation of Great Expectations, by the name of its class there.

    Attributes
    ----------
    name
        Short name within the table, the one a failed gate prints.
    says
        The expectation as a sentence.
    kind
        Class name in ``great_expectations.expectations``.
    arguments
        Its keyword arguments.
    """

    name: str
    says: str
    kind: str
    arguments: dict[str, Any]


def between(
    name: str, says: str, column: str, low: float | None, high: float | None = None
) -> Expect:
    """Every value of ``column`` lies in [low, high]; values that are missing are left out."""
    arguments = {"column": column, "min_value": low, "max_value": high}
    return Expect(name, says, "ExpectColumnValuesToBeBetween", arguments)


def one_of(name: str, says: str, column: str, values: tuple[Any, ...]) -> Expect:
    """Every value of ``column`` is one of ``values``."""
    arguments = {"column": column, "value_set": list(values)}
    return Expect(name, says, "ExpectColumnValuesToBeInSet", arguments)


def unique(name: str, says: str, *columns: str) -> Expect:
    """No two rows agree in all ``columns``."""
    arguments = {"column_list": list(columns)}
    return Expect(name, says, "ExpectCompoundColumnsToBeUnique", arguments)


def present(name: str, says: str, column: str) -> Expect:
    """No value of ``column`` is missing."""
    return Expect(name, says, "ExpectColumnValuesToNotBeNull", {"column": column})


def rows(name: str, says: str, least: int) -> Expect:
    """The table has at least ``least`` rows."""
    return Expect(name, says, "ExpectTableRowCountToBeBetween", {"min_value": least})


def scene_suite(limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of data/scenes."""
    fast, hard = limits.max_speed, limits.max_acceleration
    return (
        rows("enough", f"at least {limits.min_scenes} scenes", limits.min_scenes),
        Expect(
            "record_key_unique",
            "no record key stands twice",
            "ExpectColumnValuesToBeUnique",
            {"column": "record_key"},
        ),
        present("split_known", "every drive is in a split", "split"),
        one_of("split_name", "splits are train, dev, test", "split", SPLITS),
        one_of("command", "commands are known", "command", tuple(int(c) for c in Command)),
        between("history_length", "four history poses", "n_history", *[len(HISTORY_TIMES)] * 2),
        between("future_length", "ten future poses", "n_future", *[len(FUTURE_TIMES)] * 2),
        between("finite", "no NaN and no infinity", "n_not_finite", 0, 0),
        between("speed", f"speed within 0 .. {fast:g} m/s", "speed", 0.0, fast),
        between("acceleration", f"acceleration within {hard:g} m/s²", "acceleration", 0.0, hard),
        between("path_speed", f"future path below {fast:g} m/s", "fastest", 0.0, fast),
        between("origin", "history ends at the origin", "origin_offset", 0.0, 1e-6),
    )


def codebook_suite(limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of data/codebook."""
    fast = limits.max_speed
    return (
        rows("enough", "at least 2 prototypes", 2),
        between("length", "ten waypoints", "n_waypoints", *[len(FUTURE_TIMES)] * 2),
        between("finite", "no NaN and no infinity", "n_not_finite", 0, 0),
        between("path_speed", f"prototypes below {fast:g} m/s", "fastest", 0.0, fast),
        between("distinct", "no prototype stands twice", "twin_of", -1, -1),
    )


def item_suite(split: str, limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of data/mcq/<split>.parquet."""
    fast, gap = limits.max_speed, limits.min_option_gap
    classes = DRIVE_CLASSES if split == "train" else HARD_CLASSES
    return (
        rows("enough", f"at least {limits.min_questions} questions", limits.min_questions),
        unique("record_key_unique", "no question stands twice", "record_key", "variant"),
        one_of("split_name", f"every question says {split}", "split", (split,)),
        between("split_disjoint", "no drive is in two splits", "n_splits", 1, 1),
        one_of("drive_class", f"classes are {', '.join(classes)}", "drive_class", classes),
        between("options", "at least two options", "n_options", 2),
        between("aligned", "code, kind and similarity for each option", "n_missing", 0, 0),
        between("finite", "no NaN and no infinity", "n_not_finite", 0, 0),
        between("oracle_once", "exactly one oracle", "n_oracles", 1, 1),
        between("oracle_index", "the oracle is one of the options", "places_past_end", 0, 0),
        between("codes_distinct", "no code stands twice in a question", "repeated_codes", 0, 0),
        between("options_distinct", f"options differ by {gap:g} m or more", "option_gap", gap),
        between("path_speed", f"options and logs below {fast:g} m/s", "fastest", 0.0, fast),
        between("oracle_similarity", "the oracle is like itself", "oracle_similarity", 1.0, 1.0),
        between("least_similarity", "similarities are not negative", "least_similarity", 0.0),
        between(
            "most_similarity", "no other option is like the oracle", "most_similarity", None, 1.0
        ),
    )


def answer_suite(limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of the answers of data/vqa."""
    return (
        rows("enough", f"at least {limits.min_answers} answers", limits.min_answers),
        Expect(
            "key_unique",
            "no question is answered twice",
            "ExpectColumnValuesToBeUnique",
            {"column": "key"},
        ),
        one_of("number", "questions are in the catalogue", "number", tuple(sorted(QUESTIONS))),
        between("category", "the category is the catalogue's", "wrong_category", 0, 0),
        between("at_home", "every answer belongs to a frame", "homeless", 0, 0),
        between("question", "every question has words", "question_length", 1),
        between("answer", "every answer has words", "length", 1, 20_000),
        between("typed", "facts are of the vocabulary, things of the frame", "untyped", 0, 0),
        between("own_score", "the scorer reads the answer back", "own_score", 100.0, 100.0),
    )


def moment_suite(limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of the frames of data/vqa."""
    fast = limits.max_speed
    return (
        rows("some", "at least one frame", 1),
        Expect(
            "key_unique",
            "no frame stands twice",
            "ExpectColumnValuesToBeUnique",
            {"column": "key"},
        ),
        one_of("direction", "one of the eight direction keys", "direction", tuple(DirectionKey)),
        one_of("speed_key", "one of the four speed keys", "speed_key", tuple(SpeedKey)),
        present("ego_speed_known", "the ego's speed is known", "ego_speed"),
        between("ego_speed", f"speed within ±{fast:g} m/s", "ego_speed", -fast, fast),
        between("objects", "things can be read", "objects_broken", 0, 0),
        between("keys", "the keys are asked for once", "keys_asked", 1, 1),
        between("words", "the action in words is asked for once", "words_asked", 1, 1),
    )


def balance_suite(limits: ValidateParams) -> tuple[Expect, ...]:
    """Expectations of the one-row table of a split as a whole."""
    p = limits.position_p_value
    says = f"fair shuffling would place oracles so with a probability of at least {p:g}"
    return (between("position_balance", says, "position_p_value", p),)
