"""Trajectory prototypes: the finite vocabulary of motions that options are taken from."""

from driveproof.codebook.estimator import TrajectoryCodebook
from driveproof.codebook.metrics import Reconstruction, displacement_errors
from driveproof.codebook.similarity import ade_matrix, similarity_matrix

__all__ = [
    "Reconstruction",
    "TrajectoryCodebook",
    "ade_matrix",
    "displacement_errors",
    "similarity_matrix",
]
