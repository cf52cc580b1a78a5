"""Driving logs of many formats as :class:`driveproof.scene.Log`: one file and one registry line a format."""

from driveproof.datasets.importing import ImportReport, import_logs
from driveproof.datasets.registry import FORMATS, Format, find_format, open_logs, sniff
from driveproof.datasets.splits import split_scenes

__all__ = [
    "FORMATS",
    "Format",
    "ImportReport",
    "find_format",
    "import_logs",
    "open_logs",
    "sniff",
    "split_scenes",
]
