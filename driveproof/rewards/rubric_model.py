"""Rubrics by a vision-language model over the OpenAI protocol: what DEFT-RLVR's appendix F.2 does, in our own words.

The model gets an :class:`~driveproof.scene.Observation` and nothing else: pictures, ego motion, command, and the task of turn 1.
"""

from __future__ import annotations

import hashlib
from typing import Any

from driveproof.evaluation.ask_form import read_object, temperature_of
from driveproof.policy import ChatPolicy, ChatRequest, derive_seed
from driveproof.prompts import PromptStyle, render_scene_turn, shown_images
from driveproof.rewards.rubrics import (
    LEAST,
    MAX_CHARS,
    MAX_WEIGHT,
    MOST,
    Criterion,
    Rubric,
    problems_of,
)
from driveproof.scene import Observation

KINDS = ("signal", "road_user", "implication", "ego", "route", "other")
SYSTEM = (
    "You write marking schemes for driving rationales. Somebody else will later read rationales of one scene without seeing the "
    "scene, and tick your criteria one by one."
)
TASK = (
    "Above is the task that a driving model gets for this scene; its pictures come first. The vehicle drives {speed:.1f} m/s "
    "now. Do not solve the task. Write {least} to {most} criteria that a careful rationale of exactly this scene fulfils.\n"
    "- Each criterion is one checkable statement, in one sentence of at most {chars} characters: a piece of evidence that is plainly "
    "visible (which thing, where, in which state, how it moves) or what it means for the path or the speed.\n"
    "- Say the evidence and its consequence so concretely that a reader without pictures can decide from the rationale alone.\n"
    "- Name only what the pictures and the motion of the vehicle show; nothing that may or may not happen later. Where no light, sign or "
    "road user matters, a criterion may ask for that finding.\n"
    "- Do not prescribe a final maneuver, and do not mention candidates, options or answers.\n"
    "- Weights are whole numbers of 1 to {weight}: the most for what decides, the least for details.\n"
    "- kind is one of {kinds}.\n"
    'Reply with a JSON object {{"criteria": [{{"text": "…", "weight": 3, "kind": "signal"}}, …]}} alone.'
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "criteria": {
            "type": "array",
            "minItems": LEAST,
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "weight": {"type": "integer", "minimum": 1, "maximum": MAX_WEIGHT},
                    "kind": {"type": "string", "enum": list(KINDS)},
                },
                "required": ["text", "weight", "kind"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["criteria"],
    "additionalProperties": False,
}
VERSION = "model-" + hashlib.sha256(f"{SYSTEM}{TASK}{_SCHEMA}".encode()).hexdigest()[:8]


class ModelGenerator:
    """Asks a model for rubrics.

    Parameters
    ----------
    policy
        Retries what a connection loses; a reply that breaks the rules is asked for again with another seed.
    style
        Which pictures are shown, and the wording of the task.
    attempts, temperature, top_p, max_tokens, seed
        Sampling.
    """

    def __init__(
        self,
        policy: ChatPolicy,
        style: PromptStyle,
        *,
        attempts: int = 4,
        temperature: float = 0.7,
        top_p: float = 0.95,
        max_tokens: int = 1500,
        seed: int = 0,
    ) -> None:
        self._policy, self._style, self._attempts = policy, style, attempts
        self._temperature, self._top_p, self._max_tokens = temperature, top_p, max_tokens
        self._seed = seed

    def generate(self, observation: Observation) -> Rubric | str:
        """The rubric of a scene, or why there is none; may be called from several threads at once."""
        problem = "not asked"
        for attempt in range(self._attempts):
            reply = self._policy.reply([self._request(observation, attempt)])[0]
            if reply.text is None:
                return reply.error
            rubric = self._read(reply.text, observation)
            if isinstance(rubric, Rubric):
                return rubric
            problem = rubric
        return problem

    def _request(self, observation: Observation, attempt: int) -> ChatRequest:
        images = [image.ref for image in shown_images(observation, self._style)]
        task = TASK.format(
            speed=observation.speed,
            least=LEAST,
            most=MOST,
            chars=MAX_CHARS,
            weight=MAX_WEIGHT,
            kinds=", ".join(KINDS),
        )
        text = f"{render_scene_turn(observation, self._style)}\n\n---\n{task}"
        pictures: list[dict[str, Any]] = [{"type": "image"} for _ in images]
        return ChatRequest(
            [
                {"role": "system", "content": [{"type": "text", "text": SYSTEM}]},
                {"role": "user", "content": [*pictures, {"type": "text", "text": text}]},
            ],
            images,
            max_tokens=self._max_tokens,
            temperature=temperature_of(attempt, self._temperature),
            top_p=self._top_p,
            seed=derive_seed(self._seed, "rubric", observation.record_key, attempt),
            schema=_SCHEMA,
        )

    def _read(self, text: str, observation: Observation) -> Rubric | str:
        found = read_object(text)
        entries = found.get("criteria") if found else None
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            return "the reply is no JSON object with criteria"
        criteria = tuple(
            Criterion(
                " ".join(str(e.get("text", "")).split()), e.get("weight", 0), str(e.get("kind"))
            )
            for e in entries
        )
        rubric = Rubric(
            observation.record_key,
            VERSION,
            self._policy.name,
            round(observation.speed, 2),
            criteria,
        )
        problems = [
            *problems_of(rubric),
            *(f"kind {c.kind!r}" for c in criteria if c.kind not in KINDS),
        ]
        return "; ".join(problems) if problems else rubric
