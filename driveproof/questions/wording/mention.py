"""How answers name things."""

from __future__ import annotations

from collections.abc import Iterable

from driveproof.questions.objects import ObjectRef
from driveproof.questions.wording.words_objects import COLOUR, KIND, SECTOR


def mention(ref: ObjectRef, *, references: bool = True) -> str:
    """ "the red car to the front left (c12, CAM_FRONT_LEFT)"; without ``references`` nothing in parentheses."""
    colour = f"{COLOUR.says(ref.colour)} " if ref.colour else ""
    text = f"the {colour}{KIND.says(ref.kind)} {SECTOR.says(ref.sector)}"
    if not references:
        return text
    return f"{text} ({', '.join((ref.tag, *ref.cameras))})"


def enumerate_mentions(refs: Iterable[ObjectRef], *, references: bool = True) -> str:
    """ "the red car …, the blue van … and the stop sign …"."""
    return join([mention(ref, references=references) for ref in refs])


def join(parts: list[str]) -> str:
    """Words of a list, with commas and a last "and"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
