"""Reading pickles from outside without running what they ask for.

Only numpy arrays, numpy scalars and plain containers can come out. Nothing that a pickle names is looked
up: the few names of numpy's pickles are replaced by inert stand-ins that check what they are given.
"""

from __future__ import annotations

import io
import pickle
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.checks import one_line
from driveproof.errors import BadInput

MAX_PICKLE_BYTES = 1 << 30
_DTYPE = re.compile(r"[<>|=]?(?:b1|\?|[iu][1248]|f[248]|[SU]\d{1,5}|O8?|[bBhHiIlLqQefd])")


class _DtypeShell:
    """Stands for a dtype while the pickle is read; only byte order may be set, structures are refused."""

    __slots__ = ("_text",)

    def __init__(self, text: object, align: object = False, copy: object = True) -> None:
        if not isinstance(text, str) or not _DTYPE.fullmatch(text):
            raise pickle.UnpicklingError(f"array type {str(text)[:20]!r} is not allowed")
        self._text = text

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order, *rest = state[1:5]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in rest):
            raise pickle.UnpicklingError("structured arrays are not allowed")
        if order in "<>":
            self._text = order + self._text.lstrip("<>|=")

    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self._text)


class _SafeArray(np.ndarray[Any, np.dtype[Any]]):
    """An array whose pickled state is checked before numpy sees it."""

    def __setstate__(self, state: Any) -> None:
        _, shape, shell, fortran, content = state
        if not isinstance(shell, _DtypeShell) or not all(isinstance(n, int) for n in shape):
            raise pickle.UnpicklingError("malformed array")
        dtype = shell.dtype()
        count = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
        have = len(content) if dtype.hasobject else len(content) / dtype.itemsize
        if count != have or min(shape, default=0) < 0 or isinstance(content, str):
            raise pickle.UnpicklingError("array shape does not fit its content")
        state = (1, tuple(shape), dtype, bool(fortran), content)
        super().__setstate__(state)


class _Call:
    """A function without attributes, so that a pickle cannot alter it."""

    __slots__ = ("_function",)
    _function: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "_function", function)

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __setattr__(self, name: str, value: Any) -> None:
        raise pickle.UnpicklingError("malformed")


def _reconstruct(kind: object, shape: object, order: object) -> _SafeArray:
    return _SafeArray((0,), dtype=np.uint8)


def _frombuffer(content: bytes, shell: _DtypeShell, shape: object, order: str) -> _SafeArray:
    array = _SafeArray((0,), dtype=np.uint8)
    array.__setstate__((1, shape, shell, order == "F", bytes(content)))
    return array


def _scalar(shell: _DtypeShell, content: bytes) -> Any:
    dtype = shell.dtype()
    if dtype.hasobject or len(content) != dtype.itemsize:
        raise pickle.UnpicklingError("malformed scalar")
    return np.frombuffer(content, dtype=dtype)[0]


def _bytes() -> bytes:
    """Old protocols write empty bytes as a call without arguments."""
    return b""


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"encoding {encoding!r} is not allowed")
    return text.encode("latin1")


_NUMPY = {
    "multiarray._reconstruct": _Call(_reconstruct),
    "multiarray.scalar": _Call(_scalar),
    "numeric._frombuffer": _Call(_frombuffer),
}
_ALLOWED: dict[tuple[str, str], object] = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): _Call(_DtypeShell),
    ("collections", "OrderedDict"): _Call(OrderedDict),
    ("builtins", "set"): _Call(set),
    ("builtins", "frozenset"): _Call(frozenset),
    ("builtins", "bytes"): _Call(_bytes),
    ("_codecs", "encode"): _Call(_encode),
    **{
        (f"numpy.{package}.{place.partition('.')[0]}", place.partition(".")[2]): function
        for package in ("core", "_core")
        for place, function in _NUMPY.items()
    },
}


# The unpickler written in Python: the one in C grows its memo to any index that a pickle names, which
# lets ten bytes claim gigabytes.
class _Unpickler(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"names {module}.{name}, which is not allowed")
        return _ALLOWED[module, name]


def load_pickle(path: str | Path) -> Any:
    """The content of a pickle file: containers, numbers, text, numpy arrays.

    Raises
    ------
    BadInput
        If it is no pickle, is truncated or damaged, or asks for anything else.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_PICKLE_BYTES:
            raise BadInput("larger than 1 GiB", path=path)
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    return loads(data, path)


def loads(data: bytes, path: str | Path) -> Any:
    """As :func:`load_pickle`, from memory; ``path`` is named in errors."""
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # hostile opcodes raise anything, all of it means the same
        raise BadInput(f"not a harmless pickle: {one_line(error)}", path=path) from None
