"""People's judgement of reasons: sheets to fill in, and what they say of the automatic scores (DEFT-RLVR, appendices B.2 and E)."""

from driveproof.evaluation.people.agreement import PeopleReport, report_people
from driveproof.evaluation.people.sheets import SheetPlan, write_sheets

__all__ = ["PeopleReport", "SheetPlan", "report_people", "write_sheets"]
