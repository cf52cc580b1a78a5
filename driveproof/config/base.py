"""The base of all parameter sections: unknown keys and wrong types are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen section of params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
