"""Codecs between MessagePack values and typed Python values: the bricks of every message table.

A codec is a pair of plain functions. Decoders are strict about types (a boolean is no integer, a NaN is no
number) and lenient about length as CARLA is: missing trailing fields keep their defaults, extra ones are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: Clients have numbers of single precision, and measurements leave so: what is larger would be infinite there.
MAX_REAL = 3.4028234663852886e38

#: What MessagePack gives and takes: None, bool, int, float, str, bytes, list.
Wire = Any


class WireError(ValueError):
    """A value from the wire is not of the type that its message table says."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How one type travels: ``decode`` raises :class:`WireError`, ``encode`` expects a good value."""

    decode: Callable[[Wire], T]
    encode: Callable[[T], Wire]


def _real(wire: Wire) -> float:
    kind = type(wire)
    if (kind is float or kind is int) and -MAX_REAL <= wire <= MAX_REAL:
        return float(wire)
    raise WireError(f"expected a finite number, got {_brief(wire)}")


def _flag(wire: Wire) -> bool:
    if wire is True or wire is False:
        return bool(wire)
    raise WireError(f"expected a boolean, got {_brief(wire)}")


def _text(wire: Wire) -> str:
    if type(wire) is str:
        return wire
    raise WireError(f"expected text, got {_brief(wire)}")


def _blob(wire: Wire) -> bytes:
    if type(wire) is bytes:
        return wire
    raise WireError(f"expected bytes, got {_brief(wire)}")


def whole(low: int, high: int) -> Codec[int]:
    """Integers from ``low`` to ``high``, both included."""

    def decode(wire: Wire) -> int:
        if type(wire) is int and low <= wire <= high:
            return wire
        raise WireError(f"expected an integer in [{low}, {high}], got {_brief(wire)}")

    return Codec(decode, int)


REAL: Codec[float] = Codec(_real, float)
FLAG: Codec[bool] = Codec(_flag, bool)
TEXT: Codec[str] = Codec(_text, str)
BLOB: Codec[bytes] = Codec(_blob, bytes)
U8, U16, U32, U64 = (whole(0, 2**bits - 1) for bits in (8, 16, 32, 64))
I32 = whole(-(2**31), 2**31 - 1)
#: Anything, unread: for fields that the server does not use.
ANY: Codec[Any] = Codec(lambda wire: wire, lambda value: value)


def listed(wire: Wire) -> list[Wire]:
    """The wire value as a list; WireError if it is none."""
    if type(wire) is list:
        return wire
    raise WireError(f"expected an array, got {_brief(wire)}")


def sequence(item: Codec[T]) -> Codec[list[T]]:
    """A vector of any length."""
    decode_item, encode_item = item.decode, item.encode
    return Codec(
        lambda wire: [decode_item(value) for value in listed(wire)],
        lambda values: [encode_item(value) for value in values],
    )


def optional(item: Codec[T]) -> Codec[T | None]:
    """``[false]`` or ``[true, value]``."""

    def decode(wire: Wire) -> T | None:
        parts = listed(wire)
        if not parts:
            raise WireError("expected an optional, got an empty array")
        if not _flag(parts[0]):
            return None
        if len(parts) < 2:
            raise WireError("an optional says that it has a value, but has none")
        return item.decode(parts[1])

    return Codec(decode, lambda value: [False] if value is None else [True, item.encode(value)])


def struct(make: Callable[..., T], **fields: Codec[Any]) -> Codec[T]:
    """An array of ``fields`` in their order; ``make`` takes them by position, its defaults fill a short array."""
    names = tuple(fields)
    decoders = tuple(codec.decode for codec in fields.values())
    encoders = tuple((name, codec.encode) for name, codec in fields.items())
    cast = _caster(names, decoders)

    def decode(wire: Wire) -> T:
        values = cast(wire)
        try:
            return make(*values)
        except TypeError as error:
            raise WireError(f"{len(values)} of the fields {', '.join(names)}") from error

    return Codec(decode, lambda value: [encode(getattr(value, name)) for name, encode in encoders])


def row(*fields: Codec[Any]) -> Codec[tuple[Any, ...]]:
    """An array of exactly these fields, as a tuple."""
    decoders = tuple(codec.decode for codec in fields)
    encoders = tuple(codec.encode for codec in fields)
    cast = _caster(tuple(str(index) for index in range(len(fields))), decoders)

    def decode(wire: Wire) -> tuple[Any, ...]:
        values = cast(wire)
        if len(values) < len(decoders):
            raise WireError(f"expected {len(decoders)} fields, got {len(values)}")
        return tuple(values)

    return Codec(
        decode,
        lambda values: [encode(value) for encode, value in zip(encoders, values, strict=True)],
    )


def variant(*alternatives: Codec[Any]) -> Codec[tuple[int, Any]]:
    """``[index, value]`` as a pair of the index and the decoded value."""

    def decode(wire: Wire) -> tuple[int, Any]:
        parts = listed(wire)
        index = parts[0] if len(parts) == 2 else None
        if type(index) is not int or not 0 <= index < len(alternatives):
            raise WireError(f"expected one of {len(alternatives)} alternatives, got {_brief(wire)}")
        return index, alternatives[index].decode(parts[1])

    return Codec(decode, lambda value: [value[0], alternatives[value[0]].encode(value[1])])


def mapped(inner: Codec[Any], to: Callable[[Any], T], back: Callable[[T], Any]) -> Codec[T]:
    """A codec seen through a pair of functions."""
    decode, encode = inner.decode, inner.encode
    return Codec(lambda wire: to(decode(wire)), lambda value: encode(back(value)))


def _caster(
    names: tuple[str, ...], decoders: tuple[Callable[[Wire], Any], ...]
) -> Callable[[Wire], list[Any]]:
    def cast(wire: Wire) -> list[Any]:
        parts = listed(wire)
        try:
            return [decode(value) for decode, value in zip(decoders, parts, strict=False)]
        except WireError as error:
            raise _named(names, decoders, parts) or error from error

    return cast


def _named(
    names: tuple[str, ...], decoders: tuple[Callable[[Wire], Any], ...], parts: list[Wire]
) -> WireError | None:
    """The error of the first bad field, with its name; found again because the quick road keeps no names."""
    for name, decode, value in zip(names, decoders, parts, strict=False):
        try:
            decode(value)
        except WireError as error:
            return WireError(f"{name}: {error}")
    return None


def _brief(wire: Wire) -> str:
    text = repr(wire) if not isinstance(wire, list | bytes | str) else type(wire).__name__
    return text[:40]
