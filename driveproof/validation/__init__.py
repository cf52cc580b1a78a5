"""The data gate, and the only importer of Great Expectations: what must hold before anything is trained."""

from driveproof.validation.gate import (
    TABLES,
    Check,
    TableResult,
    gate,
    validate_data,
    write_results,
)
from driveproof.validation.page import STYLE, render_page

__all__ = [
    "STYLE",
    "TABLES",
    "Check",
    "TableResult",
    "gate",
    "render_page",
    "validate_data",
    "write_results",
]
