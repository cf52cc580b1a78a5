"""Errors that a user can act on.

Everything a user can cause (a broken file, a wrong parameter, a missing map) raises a
:class:`UserError`; the command line prints it as one line and exits with ``exit_code``.
A bug of ours raises anything else and keeps its traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from pathlib import Path

_LONGEST_LINE = 1000


class UserError(Exception):
    """Something the user can fix: says what is wrong, where, and what to do.

    Parameters
    ----------
    problem
        What is wrong, without a trailing full stop.
    path
        The file concerned, if any.
    field
        The field, column, key or record inside the file, if any.
    hint
        What to do about it, if that is not obvious.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = str(path) if path is not None else None
        self.field = field
        self.hint = hint
        where = ": ".join(part for part in (self.path, self.field) if part)
        text = f"{where}: {problem}" if where else problem
        super().__init__(f"{text} ({hint})" if hint else text)


class BadInput(UserError):
    """A file from outside is truncated, malformed, hostile or in other units than it claims."""


class MissingMap(UserError):
    """A town was asked for that no map source has."""

    exit_code = 3


class Unreachable(UserError):
    """A server (model, simulator, tracking) did not answer."""

    exit_code = 4


class GateFailed(UserError):
    """A data or quality gate said no."""

    exit_code = 1


def run(main: Callable[[], None], *, options: bool = False) -> None:
    """Run a program; a user's mistake becomes one line on stderr and an exit code, an interrupt 130.

    So does what the operating system refuses (no space, no permission, a folder in place of a file), also where it killed a
    worker process for want of memory. A program
    without ``options`` (a stage) does not start when it is given some: ``--help`` says what it does.
    """
    try:
        if not options and len(sys.argv) > 1:
            _no_options(sys.argv[1])
        main()
    except UserError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        _complain(f"{where}{error.strerror or error}")
        sys.exit(UserError.exit_code)
    except BrokenExecutor:
        _complain("a worker process died (out of memory? fewer workers need less)")
        sys.exit(UserError.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def _no_options(given: str) -> None:
    about = (sys.modules["__main__"].__doc__ or "").strip()
    if given in ("-h", "--help"):
        print(f"{about}\n\nTakes no options: its settings are in params.yaml.")
        sys.exit(0)
    raise UserError(f"{given}: a stage takes no options", hint="its settings are in params.yaml")


def _complain(text: str) -> None:
    """Print one line; names of files and fields come from outside, so nothing in them may move the cursor."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 2 :]}"
    print(f"error: {line}", file=sys.stderr)
