"""What DEFT-RLVR reports on its own corpora (489,042 trajectories), to stand beside ours. Nothing computes with it."""

from __future__ import annotations

TABLE_5_SOURCE = "DEFT-RLVR, appendix C.3, table 5: resolution sweep, 489,042 fitting trajectories"
TABLE_5_COLUMNS = (
    "n_codes",
    "in_ade",
    "out_ade",
    "cross_ade",
    "in_fde",
    "out_fde",
    "in_utilisation",
    "out_utilisation",
)
TABLE_5: tuple[tuple[int, float, float, float, float, float, float, float], ...] = (
    (256, 0.680, 0.675, 0.704, 1.281, 1.273, 1.000, 1.000),
    (512, 0.567, 0.563, 0.592, 1.063, 1.057, 1.000, 1.000),
    (1024, 0.480, 0.478, 0.505, 0.890, 0.887, 1.000, 1.000),
    (2048, 0.399, 0.399, 0.432, 0.729, 0.729, 1.000, 1.000),
    (4096, 0.333, 0.336, 0.374, 0.601, 0.605, 1.000, 0.987),
    (8192, 0.283, 0.290, 0.331, 0.504, 0.516, 0.997, 0.920),
    (16384, 0.242, 0.252, 0.297, 0.426, 0.446, 0.994, 0.737),
)

TABLE_6_SOURCE = "DEFT-RLVR, appendix C.4, table 6: data-scale sweep at 1,024 and 8,192 codes"
TABLE_6_COLUMNS = ("n_codes", "n_fit", "in_ade", "out_ade", "out_utilisation")
TABLE_6: tuple[tuple[int, int, float, float, float], ...] = (
    (1024, 5_000, 0.407, 0.528, 0.998),
    (1024, 10_000, 0.442, 0.509, 0.998),
    (1024, 20_000, 0.464, 0.496, 1.000),
    (1024, 50_000, 0.476, 0.489, 1.000),
    (1024, 100_000, 0.476, 0.479, 1.000),
    (1024, 200_000, 0.477, 0.477, 1.000),
    (1024, 489_042, 0.480, 0.478, 1.000),
    (8192, 50_000, 0.243, 0.303, 0.896),
    (8192, 100_000, 0.266, 0.297, 0.904),
    (8192, 200_000, 0.274, 0.290, 0.916),
    (8192, 489_042, 0.283, 0.290, 0.920),
)

TABLE_10_SOURCE = (
    "DEFT-RLVR, appendix D.1, table 10: oracle fidelity and candidate separation, AD-MCQ-500"
)
TABLE_10_COLUMNS = ("mean", "p50", "p75", "p90", "p95")
TABLE_10: dict[str, tuple[float, float, float, float, float]] = {
    "oracle_ade": (0.45, 0.227, 0.483, 0.933, 1.630),
    "oracle_fde": (0.79, 0.319, 0.684, 1.576, 2.671),
    "oracle_ade_percent_of_path": (3.0, 2.4, 3.7, 5.8, 7.4),
    "distractor_ade": (19.77, 17.94, 24.93, 35.27, 44.25),
    "nearest_distractor_ade": (7.16, 7.05, 8.73, 10.27, 11.86),
}
