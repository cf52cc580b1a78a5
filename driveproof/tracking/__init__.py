"""The only importer of MLflow: runs and model versions are filled from files by one idempotent publish."""

from driveproof.tracking.lineage import Lineage, MetricPoint, read_lineage
from driveproof.tracking.promotion import Promotion, compare_versions, judge_gate, promote
from driveproof.tracking.publish import Published, PublishedVersion, publish, publish_drive
from driveproof.tracking.registry import (
    Version,
    fetch_model,
    find_version,
    list_versions,
    unit_scores,
)
from driveproof.tracking.store import Store, open_store

__all__ = [
    "Lineage",
    "MetricPoint",
    "Promotion",
    "Published",
    "PublishedVersion",
    "Store",
    "Version",
    "compare_versions",
    "fetch_model",
    "find_version",
    "judge_gate",
    "list_versions",
    "open_store",
    "promote",
    "publish",
    "publish_drive",
    "read_lineage",
    "unit_scores",
]
