"""The table of methods: each handler stands beside the codecs of its arguments and its result."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from driveproof.errors import UserError
from driveproof.sim.server.wire import Codec, Wire, WireError

if TYPE_CHECKING:
    from driveproof.sim.server.rpc import Client

log = logging.getLogger(__name__)

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Refused(Exception):
    """A call that cannot be done; the client sees this text."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol.

    Parameters
    ----------
    name
        As clients call it.
    handler
        Takes the :class:`~driveproof.sim.server.rpc.Client` that calls and the decoded arguments; may be a coroutine.
    parameters
        Codecs of the arguments.
    result
        Codec of the result, None for methods without one.
    bare
        Whether the result travels without the wrapper that tells it from an error.
    """

    name: str
    handler: Callable[..., Any]
    parameters: tuple[Codec[Any], ...]
    result: Codec[Any] | None
    bare: bool = False

    def success(self, value: Any) -> Wire:
        """The result as it travels."""
        if self.result is None:
            return [[False]]
        encoded = self.result.encode(value)
        return encoded if self.bare else [[1, encoded]]

    def failure(self, text: str) -> tuple[str | None, Wire]:
        """An error as it travels: within the wrapper, or beside it where there is none."""
        return (text, None) if self.bare else (None, [[self.result is None or 0, [text]]])


METHODS: dict[str, Method] = {}


def rpc(
    *parameters: Codec[Any],
    returns: Codec[Any] | None = None,
    bare: bool = False,
    name: str | None = None,
) -> Callable[[Handler], Handler]:
    """Register the decorated function as the handler of the method of its name (or ``name``)."""

    def register(handler: Handler) -> Handler:
        key = name or handler.__name__
        if key in METHODS:
            raise ValueError(f"two handlers for {key}")
        METHODS[key] = Method(key, handler, parameters, returns, bare)
        return handler

    return register


def call(client: Client, name: str, arguments: list[Wire]) -> Any:
    """Call a method and give ``(error, result)`` as rpclib sends them, or an awaitable of that.

    ``arguments`` begin with the client's metadata, which says only whether it waits for the answer.
    """
    method = METHODS.get(name)
    if method is None:
        log.debug("unknown method %.60s", name)
        count = len(arguments)
        return (
            f"rpclib: server could not find function '{name:.60}' with argument count {count}.",
            None,
        )
    if len(arguments) <= len(method.parameters):
        return (
            f"rpclib: Function '{name}' was called with an invalid number of arguments. "
            f"Expected: {len(method.parameters) + 1}, got: {len(arguments)}",
            None,
        )
    try:
        values = [
            codec.decode(value)
            for codec, value in zip(method.parameters, arguments[1:], strict=False)
        ]
    except WireError as error:
        # in the wrapper: of an error beside it the client's user sees no more than the method's name
        return method.failure(f"bad argument of '{name}': {error}")
    try:
        result = method.handler(client, *values)
        if inspect.isawaitable(result):
            return _finish(method, result)
        return None, method.success(result)
    except Exception as error:
        return method.failure(reason(name, error))


async def _finish(method: Method, result: Awaitable[Any]) -> tuple[str | None, Wire]:
    try:
        return None, method.success(await result)
    except Exception as error:
        return method.failure(reason(method.name, error))


def reason(name: str, error: Exception) -> str:
    """What a client is told of an error; one that is a bug of ours is logged with its traceback, and goes no further."""
    if isinstance(error, Refused | UserError):
        return str(error)
    log.error("internal error in %s", name, exc_info=error)
    return f"internal error of the server in {name}: {error}"
