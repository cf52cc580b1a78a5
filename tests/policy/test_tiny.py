"""The tiny model: words and whole numbers as tokens, folders that stock transformers loads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.policy.tiny import FAMILIES, build_tiny_vlm, load_processor
from driveproof.policy.vocabulary import build_tokenizer, number_features, numbers_of

CORPUS = ["keep lane behind the red truck", "A: 4,0 8,-1\nFINAL_CHOICE: B"]
PHRASES = ("\nFINAL_CHOICE: ",)


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(CORPUS, phrases=PHRASES)


@pytest.mark.parametrize("text", ["7", " 12", ",-3", "-99", " 299", " lane", "lane", PHRASES[0]])
def test_one_token(tokenizer, text: str) -> None:
    assert len(tokenizer(text)["input_ids"]) == 1


def test_an_option_is_two_tokens_a_point(tokenizer) -> None:
    assert tokenizer.tokenize("A: 4,0 8,-1")[2:] == ["Ġ4", ",0", "Ġ8", ",-1"]


@given(st.text(max_size=40))
def test_every_text_round_trips(text: str) -> None:
    fast = build_tokenizer(CORPUS, phrases=PHRASES)
    ids = fast(text, add_special_tokens=False)["input_ids"]
    assert fast.decode(ids, skip_special_tokens=False) == text


def test_numbers_are_found_with_their_values(tokenizer) -> None:
    ids, values = numbers_of(tokenizer)
    assert len(ids) == 3 * 399
    by_token = dict(zip(tokenizer.convert_ids_to_tokens(ids.tolist()), values, strict=True))
    assert by_token[",-3"] == -3
    assert by_token["Ġ12"] == 12


def test_close_numbers_look_alike() -> None:
    features = number_features(np.arange(200.0), 64, np.random.default_rng(0))
    alike = features @ features.T / 64
    assert np.allclose(np.diag(alike), 1.0)
    assert np.allclose(np.diag(alike, 3), alike[0, 3])  # the difference alone counts
    assert (np.diff([alike[50, 50 + d] for d in range(4)]) < 0).all()


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tiny") / request.param
    build_tiny_vlm(
        out, CORPUS, hidden=32, layers=2, heads=2, vision_hidden=32, family=request.param
    )
    return out


@pytest.mark.slow
def test_the_folder_loads_and_generates(folder: Path) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    model = AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True)
    processor = load_processor(folder)
    picture = np.random.default_rng(0).integers(0, 255, (128, 224, 3), dtype=np.uint8)
    content = [{"type": "image"}, {"type": "text", "text": "keep lane"}]
    text = processor.apply_chat_template(
        [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
    )
    inputs = processor(text=[text], images=[[picture]], return_tensors="pt")
    out = model.generate(**inputs, max_new_tokens=3, do_sample=False)
    assert out.shape[1] == inputs["input_ids"].shape[1] + 3
    other = processor(text=[text], images=[[255 - picture]], return_tensors="pt")
    with torch.no_grad():
        assert not torch.equal(model(**inputs).logits, model(**other).logits)


def test_a_front_picture_is_28_tokens(tmp_path: Path) -> None:
    build_tiny_vlm(tmp_path / "m", CORPUS, hidden=32, layers=1, heads=2, vision_hidden=32)
    processor = load_processor(tmp_path / "m")
    picture = np.zeros((128, 224, 3), dtype=np.uint8)
    inputs = processor(text=["<|image_pad|>"], images=[picture], return_tensors="pt")
    assert inputs["input_ids"].shape[1] == 28


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    digests = set()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        build_tiny_vlm(
            tmp_path / name, CORPUS, hidden=32, layers=1, heads=2, vision_hidden=32, seed=seed
        )
        digests.add(sha256_file(tmp_path / name / "model.safetensors"))
    assert len(digests) == 2
    assert sha256_file(tmp_path / "a" / "tokenizer.json") == sha256_file(
        tmp_path / "b" / "tokenizer.json"
    )


@pytest.mark.parametrize("bad", [{"family": "nothing"}, {"hidden": 30, "heads": 4}])
def test_impossible_sizes_are_refused(bad: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        build_tiny_vlm(tmp_path / "m", CORPUS, **bad)  # type: ignore[arg-type]
    assert not (tmp_path / "m").exists()


def test_a_folder_without_a_processor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no processor"):
        load_processor(tmp_path)
