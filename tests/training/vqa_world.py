"""Recorded moments made by hand: an ego at some speed with one car ahead, and what is right then."""

from __future__ import annotations

from driveproof.commenter.dataset import AnswerRow
from driveproof.commenter.moments import Moment
from driveproof.questions import QUESTIONS, ActionKeys, Answer, DirectionKey, QuestionKey, SpeedKey
from driveproof.questions import terms as t
from driveproof.questions.wording import Sentences, ask
from driveproof.render.marks import Mark
from driveproof.scene import ImageRef


def row(moment: str, number: int, answer: Answer, frame: int = 0, wording: int = 0) -> AnswerRow:
    """A question of the dataset in one of its phrasings."""
    text = ask(QUESTIONS[number], seed=wording, key=f"{moment}/{frame}/")
    said = Sentences().write(number, answer)
    return AnswerRow(moment, "Toy", frame, QuestionKey(number), text, said, answer, (), 0.0)


def keys(direction: DirectionKey, speed: SpeedKey) -> Answer:
    """What question 50 is answered with."""
    return Answer({"keys": ActionKeys(direction, speed)})


def moment(n: int, speed: float, right: SpeedKey, command: str = "follow") -> Moment:
    """An ego that should do ``right`` at its speed, behind a red car."""
    clip = f"Toy_Town01_Route{n:03d}_Weather0"
    brake = right in (SpeedKey.STOP, SpeedKey.DECELERATE)
    told = Answer(
        {
            "braking": t.Braking.STOP if brake else t.Braking.NONE,
            "reason": t.Reason.RED_LIGHT if brake else t.Reason.NONE,
        }
    )
    return Moment(
        clip,
        0,
        speed,
        command,
        (Mark("c7", "red car", 12.0 + n % 5, 0.5, speed=3.0),),
        ImageRef(f"{clip}.png"),
        (row(clip, 50, keys(DirectionKey.FOLLOW_LANE, right)), row(clip, 8, told)),
    )


def moments(count: int = 24) -> list[Moment]:
    """Slow ones that should accelerate, fast ones that should decelerate; one in eight stands and should stop."""
    found = []
    for n in range(count):
        if n % 8 == 7:
            found.append(moment(n, 0.0, SpeedKey.STOP, "left"))
        elif n % 2:
            found.append(moment(n, 3.0 + 0.1 * (n % 7), SpeedKey.ACCELERATE))
        else:
            found.append(moment(n, 12.0 + 0.1 * (n % 7), SpeedKey.DECELERATE))
    return found
