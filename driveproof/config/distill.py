"""Parameters of ``driveproof distill``: what a teacher is asked, which of its answers count, what a student imitates."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from driveproof.config.base import Section
from driveproof.config.sft import TuningParams

TARGETS = ("jeft", "plan", "full", "mixed")
"""What of a teacher's answers is supervised (DEFT-RLVR, appendix D.4)."""


class TeacherParams(Section):
    """How the teacher is asked, once and offline, with the student's own prompts.

    Attributes
    ----------
    who
        "expert" (the logged drive, put into words) or ``openai:URL#MODEL``.
    repeats
        How often each question is asked; a scene has the first answer that counts.
    temperature, top_p, max_tokens
        Sampling; ``max_tokens`` is the limit of each DEFT turn, JEFT has twice as much in its one.
    timeout_s, attempts, concurrency
        Of a server.
    """

    who: str = "expert"
    repeats: int = Field(default=1, ge=1)
    temperature: float = Field(default=0.6, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    max_tokens: int = Field(default=4096, ge=1)
    timeout_s: float = Field(default=600.0, gt=0)
    attempts: int = Field(default=4, ge=1)
    concurrency: int = Field(default=32, ge=1)


class DistillParams(TuningParams):
    """Section ``distill`` of params.yaml; see :class:`TuningParams` for how the student is trained.

    Attributes
    ----------
    teacher
        Whom to ask, and how.
    steps
        Batches; the same for every target, and so are the scenes in them.
    decision_right, choice_right
        Which parsed answers count: those whose decision is that of the logged drive, those that choose the oracle.
    style, decimals, frames, waypoint_every
        Wording and pictures of the prompts.
    """

    section: ClassVar[str] = "distill"
    teacher: TeacherParams = TeacherParams()
    steps: int = Field(default=200, ge=1)
    decision_right: bool = True
    choice_right: bool = True
    style: Literal["full", "compact"] = "compact"
    decimals: int = Field(default=0, ge=0, le=6)
    frames: int = Field(default=1, ge=0, le=4)
    waypoint_every: Literal[1, 2, 5, 10] = 5
