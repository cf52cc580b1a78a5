"""Serves a :class:`~driveproof.drive.leaderboard.LeaderboardDriver` to the leaderboard's agent, on this machine only."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from driveproof.drive.leaderboard import LeaderboardDriver
from driveproof.errors import UserError

MAX_BODY = 512 << 20
"""Bytes of the longest request: six pictures of 1600 x 900, and the largest town's roads."""
LOOPBACK = "127.0.0.1"


def bridge(driver: LeaderboardDriver, port: int) -> HTTPServer:
    """A server on loopback (port 0 takes a free one); one call at a time, as the leaderboard makes them.

    A bad request is answered with 400, what the policy raises with 500, each with a line that says what was wrong.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls: dict[str, Callable[[], Any]] = {"/health": driver.health}
            self._answer(calls)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= MAX_BODY:
                self._send(413, {"problem": "the request is too long"})
                return
            body = self.rfile.read(length)
            calls: dict[str, Callable[[], Any]] = {
                "/begin": lambda: driver.begin(body),
                "/step": lambda: driver.step(body),
                "/end": driver.end,
            }
            self._answer(calls)

        def _answer(self, calls: dict[str, Callable[[], Any]]) -> None:
            call = calls.get(self.path)
            if call is None:
                self._send(404, {"problem": f"no such call: {self.path[:60]}"})
                return
            try:
                content = call()
            except (UserError, ValueError) as error:
                self._send(400, {"problem": _line(error)})
            except Exception as error:  # a policy's own code
                self._send(500, {"problem": f"{type(error).__name__}: {_line(error)}"})
            else:
                self._send(200, content)

        def _send(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the leaderboard says what happens."""

    return HTTPServer((LOOPBACK, port), Handler)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
