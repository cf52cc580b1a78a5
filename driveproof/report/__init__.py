"""The report: one offline HTML file of everything that was built, beside what the paper says."""

from driveproof.report.build import build_report

__all__ = ["build_report"]
