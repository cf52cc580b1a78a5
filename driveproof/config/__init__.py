"""Typed parameters: one section a stage; unknown and reserved keys are errors."""

from driveproof.config.params import Params, load_params

__all__ = ["Params", "load_params"]
