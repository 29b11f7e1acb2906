"""Server-sent events, as `GET /v1/events` has them."""

from __future__ import annotations

import json
from typing import List, Optional, Tuple

from .event import Change, Event, Gap


class EventStream:
    """Turns bytes into changes and keeps the position behind them; it outlives connections."""

    def __init__(self, position: Optional[str]) -> None:
        #: The id of the entry after which the next connection continues.
        self.position = position
        self._buffer = b""
        #: The entry that the connection began with, if it is not the position: stored entries up to it come first.
        self._newest: Optional[str] = None

    def reconnect(self) -> None:
        """Drops what a lost connection left incomplete."""
        self._buffer = b""
        self._newest = None

    def read(self, data: bytes) -> List[Change]:
        """The changes that are complete with these bytes."""
        *frames, self._buffer = (self._buffer + data).replace(b"\r\n", b"\n").split(b"\n\n")
        changes: List[Change] = []
        for frame in frames:
            change = self._change(frame.decode())
            if change:
                changes.append(change)
        return changes

    def _change(self, frame: str) -> Optional[Change]:
        fields = {}
        for line in frame.split("\n"):
            name, _, value = line.partition(":")
            fields[name] = value[1:] if value.startswith(" ") else value
        kind = fields.get("event")
        if kind == "hello":
            # The server repeats the position that it was given, or names its newest entry.
            if self.position is None:
                self.position = fields.get("id")
            elif fields.get("id") != self.position:
                self._newest = fields.get("id")
        elif kind == "gap":
            self.position = self._newest or self.position
            return Gap()
        elif kind in ("job", "queue"):
            self.position = fields["id"]
            if self._newest and _order(self.position) >= _order(self._newest):
                self._newest = None
            data = json.loads(fields["data"])
            return Event(self.position, data["n"], data.get("id"), data["state"], data.get("details") or {})
        elif not kind and self._newest:
            # A comment: what was stored when the connection was opened has come before it.
            self.position, self._newest = self._newest, None
        return None


def _order(id: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in id.split("-"))
