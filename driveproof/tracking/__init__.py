"""The only importer of MLflow: runs and model versions are filled from files by one idempotent publish."""

from driveproof.tracking.lineage import Lineage, MetricPoint, read_lineage
from driveproof.tracking.publish import Published, publish
from driveproof.tracking.store import Store, fetch_model, open_store

__all__ = [
    "Lineage",
    "MetricPoint",
    "Published",
    "Store",
    "fetch_model",
    "open_store",
    "publish",
    "read_lineage",
]
