"""Parameters of the command ``publish``."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from driveproof.config.base import Section

VARIANT = "{variant}"


class PublishedModel(Section):
    """A model of the pipeline that is registered, if it was built.

    ``name`` in the registry may be that of several folders: they then compete as versions of one model.
    ``{variant}`` in ``folder`` and ``answers`` stands for each of ``grpo.variants``, in their order.
    """

    name: str = Field(min_length=1, pattern=r"^[^/:@]+$")
    folder: str = Field(min_length=1)
    answers: str = ""
    """Its answers to the test questions (``answers.parquet``), "" if there are none."""
    run: str = ""
    """Which run of that file."""

    def of(self, variants: Iterable[str]) -> list[PublishedModel]:
        """One a variant, or itself alone."""
        if VARIANT not in self.folder:
            return [self]
        return [
            self.model_copy(
                update={
                    "folder": self.folder.replace(VARIANT, variant),
                    "answers": self.answers.replace(VARIANT, variant),
                }
            )
            for variant in variants
        ]


class PublishParams(Section):
    """Section ``publish`` of params.yaml."""

    tracking_uri: str = Field(default="sqlite:///mlflow.db", min_length=1)
    """MLflow tracking store and registry; a relative sqlite path is taken from the store root."""
    artifact_root: str = Field(default="mlartifacts", min_length=1)
    """Where a new experiment keeps its files: a path from the store root, or a URI."""
    experiment: str = Field(default="driveproof", min_length=1)
    """Name of the experiment."""
    models: tuple[PublishedModel, ...] = (
        PublishedModel(
            name="driveproof-policy",
            folder="models/sft",
            answers="reports/evaluate/answers.parquet",
            run="sft deft",
        ),
        PublishedModel(
            name="driveproof-policy",
            folder="models/grpo/{variant}",
            answers="reports/grpo/{variant}/answers.parquet",
            run="seed 0",
        ),
        PublishedModel(name="driveproof-driver", folder="models/vqa_sft/text"),
        PublishedModel(name="driveproof-driver", folder="models/vqa_sft/camera"),
        PublishedModel(name="driveproof-judge", folder="models/judge_sft"),
        PublishedModel(name="driveproof-judge", folder="models/judge_rl/sft"),
    )
    """What is registered, in this order."""
    alias: str = Field(default="challenger", pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    """Alias that the last version of a name gets when it is published."""
