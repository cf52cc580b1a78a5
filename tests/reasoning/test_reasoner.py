"""The run of a graph: contexts, memory, batches, and what fails."""

from __future__ import annotations

import pytest

from driveproof.errors import BadInput
from driveproof.prompts.asking import compose_question
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.reasoning import PRESETS, Moment, Reasoner, ReasoningGraph, Sampling
from driveproof.reasoning.trace import Trace
from driveproof.render.marks import Mark
from tests.reasoning.talkers import Talker, by_digest, picture

CAMERA = InputMode()


def _moment(frame: int, **more) -> Moment:
    values = {"pictures": (picture(frame),), "command": "left", **more}
    return Moment(frame, 0.5 * frame, 3.0, **values)


def _context(trace: Trace, number: int) -> list[tuple[int, int]]:
    step = trace.step(number)
    assert step is not None
    return [(cited.key.number, cited.frame) for cited in step.context]


def test_the_papers_example_frame_by_frame() -> None:
    truth = {QuestionKey(24): "The red car (c7, CAM_FRONT) is stopped."}
    talker = Talker()
    reasoner = Reasoner(talker, PRESETS["paper"].graph, CAMERA, truth=truth.get)
    first, second = (reasoner.think(_moment(frame)) for frame in (0, 1))
    assert _context(first, 19) == _context(first, 15) == []  # there is no frame before
    assert _context(second, 19) == [(43, 0), (7, 0)]
    assert _context(second, 15) == [(7, 0)]
    for trace, now in ((first, 0), (second, 1)):
        assert _context(trace, 13) == [(19, now), (24, now)]
        assert _context(trace, 47) == [(24, now), (13, now)]
        assert _context(trace, 8) == [(19, now), (15, now), (7, now), (13, now), (47, now)]
        assert _context(trace, 43) == [(13, now), (8, now)]
        assert _context(trace, 50) == [(43, now)]
    told = first.step(24)
    assert told is not None
    # nobody was asked, and a mode without references names no ids
    assert (told.truth, told.text, told.prompt) == (True, "The red car is stopped.", "")
    assert [len(batch) for batch in talker.batches] == 2 * [2, 2, 1, 1, 1, 1]
    asked = first.step(13)
    assert asked is not None
    nineteen = first.step(19)
    assert nineteen is not None
    assert asked.prompt.splitlines() == [
        "The pictures show CAM_FRONT.",
        "The ego vehicle drives 3.0 m/s.",
        "The navigator says: turn left at the junction.",
        f"Answered now: {nineteen.question} {nineteen.text}",
        f"Answered now: {told.question} The red car is stopped.",
        asked.question,
    ]
    again = second.step(19)
    third = first.step(43)
    assert again is not None
    assert third is not None
    assert f"Answered 0.5 s ago: {third.question} {third.text}" in again.prompt.splitlines()


def test_inheritance_reaches_back_as_far_as_the_window() -> None:
    graph = ReasoningGraph((50,), inherit={50: (50,)}, window=2)
    reasoner = Reasoner(Talker(), graph, CAMERA)
    traces = [reasoner.think(_moment(frame)) for frame in range(4)]
    frames = [[frame for _, frame in _context(trace, 50)] for trace in traces]
    assert frames == [[], [0], [0, 1], [1, 2]]
    step = traces[2].step(50)
    assert step is not None
    ages = [line[:20] for line in step.prompt.splitlines() if line.startswith("Answered")]
    assert ages == ["Answered 1.0 s ago: ", "Answered 0.5 s ago: "]
    reasoner.begin("another", 0)
    assert _context(reasoner.think(_moment(4)), 50) == []


def test_what_failed_is_no_context_and_costs_nothing_else() -> None:
    def fails(prompt: str) -> str | None:
        question = QUESTIONS[43].phrasings
        return None if prompt.endswith(question) else by_digest(prompt)

    reasoner = Reasoner(Talker(fails), PRESETS["cot"].graph, CAMERA)
    first, second = (reasoner.think(_moment(frame)) for frame in (0, 1))
    failed = first.step(43)
    assert failed is not None
    assert (failed.text, failed.error, failed.reading) == (None, "lost", None)
    assert _context(first, 50) == []
    assert _context(second, 19) == [(7, 0)]
    assert sum(step.text is None for step in first.steps) == 1


class Broken(Talker):
    """A policy of a stranger."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def reply(self, requests):
        if self.how == "raises":
            raise ZeroDivisionError("oh")
        return super().reply(requests)[1:]


@pytest.mark.parametrize(
    ("how", "says"), [("raises", "ZeroDivisionError: oh"), ("loses", "0 repl")]
)
def test_a_policy_that_breaks_loses_its_answers(how: str, says: str) -> None:
    trace = Reasoner(Broken(how), PRESETS["action"].graph, CAMERA).think(_moment(0))
    (step,) = trace.steps
    assert step.text is None
    assert says in step.error


def test_the_expert_may_have_no_answer() -> None:
    reasoner = Reasoner(Talker(), PRESETS["paper"].graph, CAMERA, truth=lambda key: None)
    trace = reasoner.think(_moment(0))
    told = trace.step(24)
    assert told is not None
    assert told.error == "the expert has no answer"
    assert _context(trace, 13) == [(19, 0)]
    with pytest.raises(BadInput, match="must not see it"):
        Reasoner(Talker(), PRESETS["paper"].graph, CAMERA)


@pytest.mark.parametrize("shown", [Shown.CAMERA, Shown.TEXT])
def test_without_context_a_request_is_the_one_that_models_are_taught(shown: Shown) -> None:
    mode = InputMode(shown)
    talker = Talker()
    pictures = (picture(),) if shown is Shown.CAMERA else ()
    marks = (Mark("c1", "red car", 10.0, 0.0),)
    trace = Reasoner(talker, PRESETS["alone"].graph, mode).think(
        _moment(0, pictures=pictures, marks=marks)
    )
    requests = talker.batches[0]
    for step, request in zip(trace.steps, requests, strict=True):
        question = QUESTIONS[step.key.number]
        assert step.question in question.phrasings
        expected, _ = compose_question(
            mode, question, step.question, pictures, marks, ego_speed=3.0, command="left"
        )
        assert request.messages == expected
        assert len(request.images) == len(pictures)


def test_sides_become_questions_and_contexts_of_their_own() -> None:
    graph = ReasoningGraph((32, 50), ((32, 50),))
    trace = Reasoner(Talker(), graph, CAMERA).think(_moment(0))
    step = trace.step(50)
    assert step is not None
    keys = [cited.key for cited in step.context]
    assert keys == [QuestionKey(32, "left"), QuestionKey(32, "right")]
    left, right = trace.step(32, "left"), trace.step(32, "right")
    assert left is not None
    assert right is not None
    assert left.prompt.replace("left", "right") == right.prompt


def test_seeds_belong_to_question_frame_and_episode() -> None:
    talker = Talker()
    reasoner = Reasoner(
        talker, PRESETS["alone"].graph, CAMERA, sampling=Sampling(9, temperature=0.7, top_p=0.9)
    )
    seeds = set()
    for episode in ("a", "b"):
        reasoner.begin(episode, 1)
        for frame in (0, 1):
            seeds |= {step.seed for step in reasoner.think(_moment(frame)).steps}
    assert len(seeds) == 2 * 2 * 9
    request = talker.batches[0][0]
    assert (request.max_tokens, request.temperature, request.top_p) == (9, 0.7, 0.9)
    sessions = {request.session for batch in talker.batches for request in batch}
    assert sessions == {"a", "b"}


def test_a_long_answer_is_cited_by_its_end_on_one_line() -> None:
    long = "so\n" * 3000 + "STOP"
    trace = Reasoner(Talker(lambda _: long), PRESETS["cot"].graph, CAMERA).think(_moment(0))
    step = trace.step(50)
    assert step is not None
    cited = next(line for line in step.prompt.splitlines() if line.startswith("Answered"))
    assert cited.endswith("so STOP")
    assert len(cited) < 2300
