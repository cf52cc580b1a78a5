"""What a proposal costs: 256 at once and one alone, beside the same in plain numpy and shapely.

Run with `make bench`; times are process time of one thread. Nothing is asserted about them.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import plain_rules
import pytest

from driveproof.rules import Case, read_case

pytestmark = [
    pytest.mark.shared,
    pytest.mark.benchmark(timer=time.process_time, warmup=True, min_rounds=5),
]
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", params=["small", "large"])
def case(request: pytest.FixtureRequest) -> Case:
    """256 proposals, 30 agents, 5 or 197 polygons."""
    path = ROOT.parent / f"shared/goldens/epdms_bench/bench_input_{request.param}.json"
    if not path.is_file():
        pytest.skip("reference material ../shared is not on this machine")
    return replace(read_case(path), reference=None)


def _tell(benchmark, proposals: int) -> None:
    cost = benchmark.stats.stats.min / proposals * 1e3
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    benchmark.extra_info.update(ms_per_proposal=round(cost, 4), peak_memory_mb=round(memory))
    print(f"\n{benchmark.name}: {cost:.3f} ms a proposal, peak memory {memory:.0f} MB")


def test_batch(benchmark, case: Case) -> None:
    """Target on the large map: 0.3 ms a proposal."""
    benchmark(case.score, grouping="group")
    _tell(benchmark, len(case.plans))


def test_single(benchmark, case: Case) -> None:
    """Target: 10 ms."""
    alone = replace(case, plans=case.plans[:1], names=case.names[:1])
    benchmark(alone.score)
    _tell(benchmark, 1)


def test_read(benchmark, case: Case, request: pytest.FixtureRequest) -> None:
    """Reading and checking the file, all proposals."""
    name = request.node.callspec.params["case"]
    path = ROOT.parent / f"shared/goldens/epdms_bench/bench_input_{name}.json"
    benchmark(read_case, path)
    _tell(benchmark, len(case.plans))


def test_corrected_batch(benchmark, case: Case) -> None:
    benchmark(case.score, grouping="group", variant="corrected")
    _tell(benchmark, len(case.plans))


def test_plain_numpy_batch(benchmark, case: Case) -> None:
    """The baseline; it must also say the same."""
    result = benchmark.pedantic(plain_rules.score, args=(case,), rounds=1, warmup_rounds=0)
    _tell(benchmark, len(case.plans))
    ours = case.score(grouping="group").rules
    for code, values in result.items():
        assert np.abs(ours[code].values - values).max() < 1e-6, code


def test_plain_numpy_single(benchmark, case: Case) -> None:
    alone = replace(case, plans=case.plans[:1], names=case.names[:1])
    benchmark.pedantic(plain_rules.score, args=(alone,), rounds=2, warmup_rounds=0)
    _tell(benchmark, 1)
