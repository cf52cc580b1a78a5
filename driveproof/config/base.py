"""The base of all parameter sections: unknown keys and wrong types are errors."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seed = Annotated[int, Field(ge=0, lt=1 << 32)]
"""What numpy and scikit-learn take as a seed."""


class Section(BaseModel):
    """A frozen section of params.yaml."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False
    )
