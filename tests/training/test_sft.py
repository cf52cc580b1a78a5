"""Supervised training on a world of two colours: what is supervised, what is learned, and whether it repeats."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import toy_world

from driveproof.config.sft import KINDS, Phase, SftParams, Shares, TinyParams
from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.mcq.interaction import AskSettings, ask
from driveproof.mcq.items import McqItem
from driveproof.policy.tiny import MERGE
from driveproof.prompts import joint_messages, parse_choice
from driveproof.training.examples import Teacher, kind_of_steps

pytestmark = pytest.mark.slow

TINY = TinyParams(hidden=64, layers=2, heads=2, vision_hidden=32)


def params(**changes: object) -> SftParams:
    settings = {
        "tiny": TINY,
        "batch_size": 8,
        "threads": 1,
        "redraw": False,
        "precision": "fp32",
        "learning_rate": 1e-2,
        "matrix_learning_rate": 0.04,
        "phases": (Phase(steps=3, shares=Shares(full=1)),),
        **changes,
    }
    return SftParams.model_validate(settings)


@dataclass
class World:
    """The toy world on disk."""

    folder: Path
    items: list[McqItem]

    def teacher(self, settings: SftParams, seed: int = 0) -> Teacher:
        return Teacher(self.items, self.scenes, self.codebook, settings, toy_world.MCQ, seed)

    def __post_init__(self) -> None:
        made = toy_world.scenes(self.folder)
        self.codebook = toy_world.codebook()
        self.items = toy_world.items(made, self.codebook)
        self.scenes = {scene.record_key: scene for scene in made}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"), [])


def learn(world: World, settings: SftParams, out: Path, seed: int = 0) -> dict[str, object]:
    from driveproof.training.sft import train

    return train(world.teacher(settings, seed), settings, seed, out, root=world.folder)


@pytest.fixture(scope="module")
def model(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three steps of training."""
    out = tmp_path_factory.mktemp("models") / "sft"
    learn(world, params(), out)
    return out


def encoder(world: World, model: Path):  # type: ignore[no-untyped-def]
    import torch

    from driveproof.policy.pictures import Pictures
    from driveproof.policy.tiny import load_processor
    from driveproof.training.encoding import Encoder

    return Encoder(load_processor(model), Pictures(world.folder), torch.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_assistant_is_supervised(world: World, model: Path, kind: str) -> None:
    encode = encoder(world, model)
    example = world.teacher(params()).example(3, kind)  # type: ignore[arg-type]
    labels = np.array(encode.encode(example)["labels"])
    said = encode._tokenizer.decode(labels[labels != -100].tolist())
    texts = [m["content"][0]["text"] for m in example.messages if m["role"] == "assistant"]
    assert said == "".join(f"{text}<|im_end|>" for text in texts)


def test_tokens_are_those_of_the_processor(world: World, model: Path) -> None:
    """What is trained on is what a policy is asked with: the same tokens, the same pixels."""
    from driveproof.policy.tiny import load_processor
    from driveproof.scene.images import ImageStore

    teacher, processor = world.teacher(params()), load_processor(model)
    example = teacher.example(5, "joint")
    ours = encoder(world, model).encode(example)
    store = ImageStore(world.folder)
    prompt = processor.apply_chat_template(
        example.messages[:-1], tokenize=False, add_generation_prompt=True
    )
    theirs = processor(
        text=[prompt], images=[store.load(ref) for ref in example.images], return_tensors="pt"
    )
    ids = theirs["input_ids"][0].tolist()
    assert ours["input_ids"][: len(ids)] == ids
    assert set(ours["labels"][: len(ids)]) == {-100}
    pixels = ours["pictures"][0]["inputs"]["pixel_values"]
    assert np.allclose(pixels.numpy(), theirs["pixel_values"].numpy())


def test_batches_are_padded_to_a_multiple(world: World, model: Path) -> None:
    encode, teacher = encoder(world, model), world.teacher(params())
    examples = [encode.encode(teacher.example(i, "full" if i else "plan")) for i in range(3)]
    batch = encode.collate(examples)
    width = batch["input_ids"].shape[1]
    assert width % 16 == 0
    assert width >= max(len(e["input_ids"]) for e in examples)
    for row, example in enumerate(examples):
        n = len(example["input_ids"])
        assert batch["attention_mask"][row].sum() == n
        assert (batch["labels"][row, n:] == -100).all()
    assert len(batch["image_grid_thw"]) == 3
    patches = batch["image_grid_thw"].prod(1).sum()
    assert len(batch["pixel_values"]) == patches
    assert batch["mm_token_type_ids"].sum() == patches // MERGE**2


@pytest.mark.slow
def test_two_colours_are_learned_exactly(world: World, tmp_path: Path) -> None:
    """The oracle of a question hangs on the colour of the picture alone, so only a model that sees is exact."""
    from driveproof.policy.local import TransformersPolicy
    from driveproof.policy.pictures import Pictures

    settings = params(phases=(Phase(steps=80, shares=Shares(full=1)),))
    learn(world, settings, tmp_path / "model")
    policy = TransformersPolicy(tmp_path / "model", pictures=Pictures(world.folder))
    style = world.teacher(settings).style
    asked = AskSettings(style=style, repeats=1, temperature=0.0, max_tokens=64)
    answers = ask(policy, world.items, "deft", asked)
    assert [a.choice for a in answers] == [item.oracle_index for item in world.items]


def test_the_same_seed_gives_the_same_bytes(world: World, model: Path, tmp_path: Path) -> None:
    learn(world, params(), tmp_path / "again")
    learn(world, params(), tmp_path / "other", seed=1)
    digest = sha256_file(model / "model.safetensors")
    assert sha256_file(tmp_path / "again" / "model.safetensors") == digest
    assert sha256_file(tmp_path / "other" / "model.safetensors") != digest


def test_a_local_folder_is_fine_tuned_with_its_vision_frozen(
    world: World, model: Path, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file

    settings = params(base=str(model), freeze_vision=True, optimizer="adamw", learning_rate=1e-3)
    learn(world, settings, tmp_path / "tuned")
    before = load_file(model / "model.safetensors")
    after = load_file(tmp_path / "tuned" / "model.safetensors")
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed
    assert not any("visual" in name for name in changed)
    assert any("language_model" in name for name in changed)


def test_a_base_that_is_no_model_is_one_line(world: World, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no model can be loaded"):
        learn(world, params(base=str(tmp_path / "nothing")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_examples_repeat_and_options_are_redrawn(world: World) -> None:
    settings = params(redraw=True, hard_share=0.0, structured_share=0.0)
    first, again = world.teacher(settings), world.teacher(settings)
    for kind in KINDS:
        assert first.example(7, kind) == again.example(7, kind)  # type: ignore[arg-type]
    revealed = {first.example(i, "full").messages[2]["content"][0]["text"] for i in range(40)}
    assert len(revealed) > len(world.items)


@pytest.mark.parametrize("kind", ["match", "full", "joint"])
def test_redrawn_questions_are_answered_with_their_nearest_option(world: World, kind: str) -> None:
    teacher = world.teacher(params(redraw=True, plan_noise=0.2))
    for index in range(20):
        messages = teacher.example(index, kind).messages  # type: ignore[arg-type]
        answer = messages[-1]["content"][0]["text"]
        lines = answer.split("\n")[-7:-1]
        gaps = [sum(map(int, re.findall(r"gap (\d+),(\d+)", line)[0])) for line in lines]
        assert gaps[parse_choice(answer, 6).index or 0] == min(gaps)


def test_jeft_examples_are_asked_like_jeft_questions(world: World) -> None:
    teacher = world.teacher(params())
    example = teacher.example(0, "joint")
    asked = {
        joint_messages(item.observation, item.options, teacher.style)[-1]["content"][-1]["text"]
        for item in world.items
    }
    assert example.messages[-2]["content"][-1]["text"] in asked


def test_kinds_follow_their_shares_in_every_stretch() -> None:
    kinds = kind_of_steps(Shares(match=1, plan=1, full=2), 40)
    for start in range(0, 40, 4):
        stretch = kinds[start : start + 4]
        assert (stretch.count("match"), stretch.count("plan"), stretch.count("full")) == (1, 1, 2)


def test_a_question_without_its_scene_is_named(world: World) -> None:
    with pytest.raises(BadInput, match="without its scene"):
        Teacher(world.items, {}, world.codebook, params(), toy_world.MCQ, 0)


def test_a_training_that_was_cut_off_begins_anew_with_other_data(
    world: World, tmp_path: Path
) -> None:
    """An example in the middle, a picture, or the limit of an example's length is other data, too."""
    from driveproof.training.sft import Running, train

    settings = params(
        batch_size=2, log_every=1, phases=(Phase(steps=4, shares=Shares(full=1)),),
        tiny=TinyParams(hidden=32, layers=1, heads=2, vision_hidden=16, vision_layers=1),
    )  # fmt: skip
    folder = tmp_path / "world"
    shutil.copytree(world.folder, folder)

    def cut(items: list[McqItem], longest: int = 0) -> int:
        """Train until step 3, whose checkpoint is that of step 2; the first step that was done."""
        teacher = Teacher(items, world.scenes, world.codebook, settings, toy_world.MCQ, 0)
        steps: list[int] = []

        def progress(step: int, *_: object) -> None:
            steps.append(step)
            if step == 3:
                raise KeyboardInterrupt

        running = Running(scratch=tmp_path / "scratch", checkpoint_every=1, longest=longest)
        with pytest.raises(KeyboardInterrupt):
            train(teacher, settings, 0, tmp_path / "out", folder, progress, running)
        return steps[0]

    taught = [world.teacher(settings).lesson(n, n // 2).images[0] for n in range(8)]
    middle = next(ref for ref in taught[1:-1] if ref not in (taught[0], taught[-1]))
    changed = [
        replace(item, options=item.options + 0.5) if middle in _pictures(item) else item
        for item in world.items
    ]
    assert cut(world.items) == 1
    assert cut(world.items) == 3
    assert cut(changed) == 1
    assert cut(changed, longest=4096) == 1
    path = folder / middle.path
    path.write_bytes(path.read_bytes() + b"other")
    assert cut(changed, longest=4096) == 1


def _pictures(item: McqItem) -> list[object]:
    return [image for row in item.observation.images.values() for image in row if image]
