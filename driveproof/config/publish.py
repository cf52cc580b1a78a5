"""Parameters of the command ``publish``."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section


class PublishParams(Section):
    """Section ``publish`` of params.yaml."""

    tracking_uri: str = Field(default="sqlite:///mlflow.db", min_length=1)
    """MLflow tracking store and registry; a relative sqlite path is taken from the store root."""
    artifact_root: str = Field(default="mlartifacts", min_length=1)
    """Where a new experiment keeps its files: a path from the store root, or a URI."""
    experiment: str = Field(default="driveproof", min_length=1)
    """Name of the experiment."""
    model_name: str = Field(default="driveproof-policy", min_length=1, pattern=r"^[^/:]+$")
    """Name in the model registry."""
    model_dir: str = "models/sft"
    """The model that is registered, if it is there."""
    alias: str = Field(default="candidate", pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    """Alias that a published model version gets."""
