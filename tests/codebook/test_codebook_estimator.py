"""The estimator: exact encoding, round trips, storage, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from driveproof.codebook import TrajectoryCodebook, displacement_errors
from driveproof.codebook.nearest import nearest_codes
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float32, Int

COORDINATE = st.floats(-300, 300, width=32)


def flats(rows: st.SearchStrategy[int]) -> st.SearchStrategy[Float32]:
    return rows.flatmap(lambda n: hnp.arrays(np.float32, (n, 20), elements=COORDINATE))


def brute_force(points: Float32, codes: Float32) -> Int:
    wide = codes.astype(np.float64)
    return np.array([((wide - p.astype(np.float64)) ** 2).sum(1).argmin() for p in points])


def fans(n: int, seed: int = 0) -> Float32:
    """``[n, 10, 2]`` gentle arcs at 0 .. 20 m/s."""
    rng = np.random.default_rng(seed)
    speed, yaw = rng.uniform(0, 20, (n, 1)), rng.normal(0, 0.1, (n, 1))
    times = np.linspace(0.5, 5, 10)
    x = speed * np.sinc(yaw * times / np.pi) * times
    y = speed * times * np.sin(yaw * times / 2)
    return np.stack([x, y], axis=-1).astype(np.float32)


@pytest.fixture(scope="module")
def fitted() -> TrajectoryCodebook:
    return TrajectoryCodebook(32, n_init=1, max_iter=10).fit(fans(1500))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(points=flats(st.integers(1, 20)), codes=flats(st.integers(1, 40)))
def test_encoding_is_the_brute_force_argmin(points: Float32, codes: Float32) -> None:
    np.testing.assert_array_equal(nearest_codes(points, codes, 1), brute_force(points, codes))


@settings(max_examples=30, deadline=None)
@given(codes=flats(st.integers(2, 30)), seed=st.integers(0, 99), far=st.floats(0, 1e5))
def test_encoding_is_exact_for_near_ties_far_away(codes: Float32, seed: int, far: float) -> None:
    """Midpoints of pairs far from the origin, where a float32 product alone cannot tell which is nearer."""
    rng = np.random.default_rng(seed)
    codes = (codes + far).astype(np.float32)
    first, second = rng.integers(len(codes), size=(2, 16))
    points = ((codes[first] + codes[second]) / 2 + rng.normal(0, 1e-3, (16, 20))).astype(np.float32)
    np.testing.assert_array_equal(nearest_codes(points, codes, 2), brute_force(points, codes))


@pytest.mark.parametrize("n_codes", [1, 255, 256, 257, 600])
def test_encoding_does_not_depend_on_threads_or_blocks(n_codes: int) -> None:
    points, codes = fans(3000).reshape(-1, 20), fans(n_codes, seed=1).reshape(-1, 20)
    expected = brute_force(points, codes)
    for workers in (1, 2, 5):
        np.testing.assert_array_equal(nearest_codes(points, codes, workers), expected)


def test_decode_then_encode_is_the_identity(fitted: TrajectoryCodebook) -> None:
    codes = np.arange(32)
    assert fitted.decode(codes).shape == (32, 10, 2)
    np.testing.assert_array_equal(fitted.encode(fitted.decode(codes)), codes)
    np.testing.assert_array_equal(fitted.predict(fans(50)), fitted.encode(fans(50).reshape(50, 20)))
    np.testing.assert_array_equal(fitted.labels_, fitted.encode(fans(1500)))


def test_scikit_learn_protocol(fitted: TrajectoryCodebook) -> None:
    column = fitted.transform(fans(5))
    assert column.shape == (5, 1)
    np.testing.assert_array_equal(fitted.inverse_transform(column), fitted.decode(column[:, 0]))
    assert clone(fitted).get_params() == fitted.get_params()
    assert fitted.score(fans(100)) == -fitted.evaluate(fans(100)).ade.mean


def test_fitting_repeats_to_the_byte(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        TrajectoryCodebook(16, n_init=1, max_iter=5, random_state=3).fit(fans(400)).save(
            tmp_path / name
        )
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_more_codes_reconstruct_better() -> None:
    data = fans(2000)
    errors = [
        TrajectoryCodebook(k, n_init=1).fit(data).evaluate(data).ade.mean for k in (8, 32, 128)
    ]
    assert errors[0] > errors[1] > errors[2]


def test_displacement_errors_in_closed_form() -> None:
    still = np.zeros((2, 10, 2))
    moved = still.copy()
    moved[1] = np.linspace(1, 10, 10)[:, None] * [3, 4]  # 5, 10 .. 50 m away
    ade, fde = displacement_errors(still, moved)
    np.testing.assert_allclose(ade, [0, 27.5])
    np.testing.assert_allclose(fde, [0, 50])


def test_evaluation_counts_the_codes_in_use(fitted: TrajectoryCodebook) -> None:
    found = fitted.evaluate(fitted.decode([3, 3, 5, 9]))
    assert found.n == 4
    assert found.utilisation == 3 / 32
    assert found.ade.mean == found.fde.p99 == 0


def test_round_trip_on_disk(fitted: TrajectoryCodebook, tmp_path: Path) -> None:
    fitted.save(tmp_path / "book.npz")
    back = TrajectoryCodebook.load(tmp_path / "book.npz")
    np.testing.assert_array_equal(back.codes_, fitted.codes_)
    assert back.get_params() == fitted.get_params()
    assert (back.n_samples_, back.data_digest_) == (fitted.n_samples_, fitted.data_digest_)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused_clearly(
    fitted: TrajectoryCodebook, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "book.npz"
    fitted.save(path)
    whole = path.read_bytes()
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    else:
        place = data.draw(st.integers(0, len(whole) - 1))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
    try:
        back = TrajectoryCodebook.load(path)
    except BadInput as error:
        assert "book.npz" in str(error)  # noqa: PT017  a byte that does not matter may be hit instead
    else:
        np.testing.assert_array_equal(back.codes_, fitted.codes_)


def _rewrite(path: Path, codes: np.ndarray, **changes: object) -> None:
    with np.load(path, allow_pickle=False) as archive:
        metadata = json.loads(str(archive["metadata"])) | changes
    np.savez(path, codes=codes, metadata=np.array(json.dumps(metadata)))


def test_altered_contents_are_refused(fitted: TrajectoryCodebook, tmp_path: Path) -> None:
    path = tmp_path / "book.npz"
    codes = fitted.codes_.copy()
    for changed, changes, message in (
        (codes, {"version": 99}, "format version 99"),
        (codes, {"params": {"clusters": 3}}, "unknown parameter"),
        (codes, {"data_sha256": None}, "data_sha256"),
        (codes[:, :9], {}, "expected float32"),
        (np.where(codes == codes[0, 0, 0], np.nan, codes).astype(np.float32), {}, "not finite"),
        (codes + 1, {}, "digest"),
        (codes.astype(object), {}, "not a readable"),
    ):
        fitted.save(path)
        _rewrite(path, changed, **changes)
        with pytest.raises(BadInput, match=message):
            TrajectoryCodebook.load(path)
    with pytest.raises(BadInput, match="no such file"):
        TrajectoryCodebook.load(tmp_path / "absent.npz")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((5, 9, 2)), "expected shape"),
        (np.zeros(20), "expected shape"),
        (np.full((5, 20), np.nan), "5 of 5 not finite or beyond 1,000 km, first in row 0"),
        (np.full((5, 20), 1e30), "5 of 5 not finite or beyond 1,000 km, first in row 0"),
        (np.array([["a"] * 20]), "expected numbers"),
    ],
)
def test_bad_trajectories_are_refused(
    fitted: TrajectoryCodebook, values: np.ndarray, message: str
) -> None:
    for action in (fitted.encode, TrajectoryCodebook(2).fit):
        with pytest.raises(BadInput, match=message):
            action(values)


def test_fewer_distinct_trajectories_than_codes() -> None:
    twins = np.repeat(fans(10), 20, axis=0)
    with pytest.raises(BadInput, match="11 codes cannot be fitted to 10 distinct trajectories"):
        TrajectoryCodebook(11).fit(twins)
    assert TrajectoryCodebook(10, n_init=1).fit(twins).codes_.shape == (10, 10, 2)


def test_codes_out_of_range(fitted: TrajectoryCodebook) -> None:
    for codes in ([32], [-1]):
        with pytest.raises(BadInput, match=r"outside 0 \.\. 31"):
            fitted.decode(codes)
    with pytest.raises(BadInput, match="expected integers"):
        fitted.decode([0.5])
