"""The rules of algorithm D.1 on prototypes of a regular fan of motions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import Band
from driveproof.geometry.kinematics import constant_velocity
from driveproof.mcq.candidates import (
    Rejected,
    Vocabulary,
    record_rng,
    structured_options,
    uniform_options,
)
from driveproof.scene import FUTURE_TIMES

BAND = Band(low=0.5, high=0.97)
WIDE = Band(low=0.0, high=0.99)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data(), key=st.text(min_size=1, max_size=20))
def test_uniform_options_keep_the_rules(
    vocabulary: Vocabulary, data: st.DataObject, key: str
) -> None:
    oracle = data.draw(st.integers(0, len(vocabulary.scales) - 1))
    low = data.draw(st.floats(0.0, 0.8))
    high = data.draw(st.floats(low + 0.01, 0.99))
    band = Band(low=low, high=high)
    row = vocabulary.similarity[oracle]
    inside = [
        k
        for k in range(len(row))
        if k != oracle
        and np.float32(low) <= row[k] <= np.float32(high)
        and vocabulary.stands_for[k] == k
    ]
    if len(inside) < 5:
        with pytest.raises(Rejected, match="too_few_in_band"):
            uniform_options(vocabulary, oracle, band, 5, record_rng(0, key))
        return
    options = uniform_options(vocabulary, oracle, band, 5, record_rng(0, key))
    assert options.codes[options.oracle_index] == oracle
    assert options.kinds.count("oracle") == 1
    assert len(set(options.codes.tolist())) == 6
    assert set(options.codes.tolist()) - {oracle} <= set(inside)
    np.testing.assert_array_equal(options.similarities, row[options.codes])


def inertial_code(vocabulary: Vocabulary, speed: float) -> int:
    going_on = constant_velocity(np.array([speed, 0.0]), FUTURE_TIMES)
    return int(vocabulary.codebook.encode(going_on[None])[0])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data(), speed=st.floats(0, 15), key=st.text(min_size=1, max_size=20))
def test_structured_options_keep_the_rules(
    vocabulary: Vocabulary, data: st.DataObject, speed: float, key: str
) -> None:
    oracle = data.draw(st.integers(0, len(vocabulary.scales) - 1))
    inertial = inertial_code(vocabulary, speed)
    try:
        options = structured_options(
            vocabulary, oracle, inertial, BAND, 5, 2, 0.25, record_rng(0, key)
        )
    except Rejected:
        return
    assert sorted(options.kinds) == [
        "constant_velocity",
        "oracle",
        "random",
        "random",
        "scale",
        "scale",
    ]
    assert len(set(options.codes.tolist())) == 6
    offered = options.codes[options.kinds.index("constant_velocity")]
    assert offered == vocabulary.stands_for[inertial]
    others = np.delete(options.similarities, options.oracle_index)
    assert (others >= np.float32(0.5)).all()
    assert (others <= np.float32(0.97)).all()
    scales = vocabulary.scales
    mismatch = np.abs(scales - scales[oracle]) / scales[oracle]
    chosen = [k for k, kind in zip(options.codes, options.kinds, strict=True) if kind == "scale"]
    assert (mismatch[chosen] <= 0.25).all()
    # smallest first: nothing in the pool that was left out matches better
    left = np.setdiff1d(vocabulary.pool(oracle, BAND), chosen)
    assert mismatch[left].min() >= mismatch[chosen].max()


def test_prototypes_that_look_the_same_are_never_offered_together(vocabulary: Vocabulary) -> None:
    codes = vocabulary.codebook.codes_
    twin = codes[40:41] + np.float32(0.01)  # 1.4 cm beside another one
    doubled = TrajectoryCodebook(len(codes) + 1, n_init=1)
    doubled.codes_ = np.concatenate([codes, twin])
    doubled.n_samples_, doubled.data_digest_ = len(doubled.codes_), "fan"
    both = Vocabulary(doubled)
    assert both.stands_for[-1] == both.stands_for[40]
    for oracle in range(len(codes)):
        assert len(codes) not in both.pool(oracle, WIDE)


def test_options_do_not_depend_on_anything_but_seed_and_key(vocabulary: Vocabulary) -> None:
    def codes(seed: int, key: str) -> list[int]:
        return uniform_options(vocabulary, 40, WIDE, 5, record_rng(seed, key)).codes.tolist()

    assert codes(1, "a") == codes(1, "a")
    assert codes(1, "a") != codes(1, "b")
    assert codes(1, "a") != codes(2, "a")


def test_place_of_the_oracle_is_uniform(vocabulary: Vocabulary) -> None:
    places = [
        uniform_options(vocabulary, 40, WIDE, 5, record_rng(0, f"r{i}")).oracle_index
        for i in range(1200)
    ]
    counts = np.bincount(places, minlength=6)
    assert ((counts - 200) ** 2 / 200).sum() < 20.5  # chi-square, 5 degrees, 0.1 %


def test_all_of_the_band_is_drawn_from(vocabulary: Vocabulary) -> None:
    pool = vocabulary.pool(40, WIDE)
    drawn = set()
    for i in range(600):
        drawn |= set(
            uniform_options(vocabulary, 40, WIDE, 5, record_rng(0, f"r{i}")).codes.tolist()
        )
    assert drawn == {40, *pool.tolist()}


def test_reasons_of_rejection(vocabulary: Vocabulary) -> None:
    def reason(oracle: int, inertial: int, band: Band, tolerance: float = 0.25) -> str:
        with pytest.raises(Rejected) as caught:
            structured_options(
                vocabulary, oracle, inertial, band, 5, 2, tolerance, record_rng(0, "r")
            )
        return caught.value.reason

    cruising = inertial_code(vocabulary, 9.0)
    assert reason(cruising, cruising, BAND) == "constant_velocity_is_oracle"
    assert reason(cruising, inertial_code(vocabulary, 10.5), BAND, 1e-9) == "too_few_scale_matched"
    assert (
        reason(cruising, inertial_code(vocabulary, 0.0), Band(low=0.8, high=0.97))
        == "constant_velocity_outside_band"
    )
    matched = structured_options(
        vocabulary, cruising, inertial_code(vocabulary, 10.5), BAND, 5, 2, 0.25, record_rng(0, "r")
    )
    scale = int(matched.codes[matched.kinds.index("scale")])
    assert reason(cruising, scale, BAND) == "constant_velocity_is_scale_matched"
    row = np.sort(vocabulary.similarity[cruising])[::-1]
    narrow = Band(low=float(row[4]), high=float(row[1]))  # four codes at most
    assert reason(cruising, int(vocabulary.pool(cruising, narrow)[0]), narrow, 9.0) in (
        "too_few_in_band",
        "constant_velocity_is_scale_matched",
    )
    with pytest.raises(Rejected, match="too_few_in_band"):
        uniform_options(vocabulary, cruising, narrow, 5, record_rng(0, "r"))
    standing = inertial_code(vocabulary, 0.0)
    assert vocabulary.scales[standing] == 0
    assert reason(standing, cruising, BAND) == "oracle_without_scale"
