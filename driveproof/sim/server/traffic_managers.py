"""Which traffic managers run where: they live inside clients, the server only introduces them to each other."""

from __future__ import annotations


class TrafficManagers:
    """Traffic managers by port; one that was registered by a client is forgotten when that client is gone."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, int]] = {}

    def add(self, host: str, port: int, owner: int) -> bool:
        """Register one; False if the port is taken."""
        if port in self._known:
            return False
        self._known[port] = (host, owner)
        return True

    def find(self, port: int) -> tuple[str, int]:
        """Host and port of a running one, ("", 0) if there is none."""
        if port not in self._known:
            return "", 0
        return self._known[port][0], port

    def remove(self, port: int) -> bool:
        """Unregister one; whether it was there."""
        return self._known.pop(port, None) is not None

    def forget(self, owner: int) -> None:
        """Unregister all of one client."""
        self._known = {port: entry for port, entry in self._known.items() if entry[1] != owner}
