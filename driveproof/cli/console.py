"""What the command line shows to people, as rich draws it, but with text from outside taken as text.

Models, files, reasons and paths hold brackets (``[/INST]``), colons and escape sequences: here none of them is
markup, a smiley, or moves the cursor. Commands take these classes instead of rich's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich import console, progress
from rich.status import Status
from rich.table import Table
from rich.text import Text

Item = TypeVar("Item")
REPLACEMENT = "\ufffd"
_LAYOUT = "\n\t"
_UNBOUNDED = 10_000
"""Columns of what is no terminal: a program that reads a pipe wants each row on a line."""


def printable(text: str) -> str:
    """The text with a sign in place of everything that a terminal would obey."""
    return "".join(c if c.isprintable() or c in _LAYOUT else REPLACEMENT for c in text)


class Console(console.Console):
    """Prints strings as they are; what is to have a style is a ``Text``."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _UNBOUNDED

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's, but no cell of a table is cut: what is too long goes on in the next line."""
        for table in objects:
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Also every string in a table."""
        return super().render_str(printable(text), **options)

    def status(self, status: console.RenderableType, **options: Any) -> Status:
        """A spinner beside a text; for :meth:`Status.update`, too, text is a ``Text``."""
        shown = Text(printable(status)) if isinstance(status, str) else status
        return super().status(shown, **options)


class TextColumn(progress.TextColumn):
    """Text of a task, as it is."""

    def render(self, task: progress.Task) -> Text:
        """Format it."""
        text = printable(self.text_format.format(task=task))
        return Text(text, style=self.style, justify=self.justify)


class Progress(progress.Progress):
    """Bars whose descriptions are text."""

    @classmethod
    def get_default_columns(cls) -> tuple[progress.ProgressColumn, ...]:
        """As rich's, without markup."""
        return (
            TextColumn("{task.description}", style="progress.description"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
        )


def track(items: Iterable[Item], description: str, total: float | None = None) -> Iterator[Item]:
    """The items, with a bar on stderr that goes away."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=description)
