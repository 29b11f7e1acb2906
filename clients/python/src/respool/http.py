"""HTTP/1.1 over a stream, for requests whose body is in memory and responses that may have no end."""

from __future__ import annotations

import http.client
import io
import re
from email.message import Message
from typing import Mapping, Optional

from .runtime import Stream

_MAX_HEAD = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: |\r\n)")


class BrokenResponse(OSError):
    """A response that ended too early, came too late, or is not HTTP."""


class Connection:
    """A connection with one request at a time."""

    def __init__(self, stream: Stream, host: str) -> None:
        self._stream = stream
        self._host = host
        self._buffer = b""
        #: The bytes that are left of the body, or of a chunk; `None` of a body that ends with the connection.
        self._left: Optional[int] = 0
        self._is_chunked = False
        self._is_whole = True
        self._stays_open = True
        self.status = 0
        self.headers: Message = Message()

    @property
    def is_reusable(self) -> bool:
        """Whether the response was read to its end, and the connection takes another request."""
        return self._is_whole and self._stays_open and not self._buffer

    async def request(self, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes], timeout: float) -> None:
        """Sends a request and reads the head of its response."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._host}", *(f"{name}: {value}" for name, value in headers.items())]
        if body is not None or method == "POST":
            lines.append(f"Content-Length: {len(body or b'')}")
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header of a request contains a line feed")
        await self._stream.send("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""), timeout)
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > _MAX_HEAD:
                raise BrokenResponse("the head of the response is too long")
            await self._fill(timeout)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        first = _STATUS.match(head + b"\r\n")
        if not first:
            raise BrokenResponse("the response is not HTTP/1.1")
        self.status = int(first[1])
        self.headers = http.client.parse_headers(io.BytesIO(head.partition(b"\r\n")[2] + b"\r\n\r\n"))
        self._is_chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        length = self.headers.get("Content-Length")
        self._left = 0 if self._is_chunked or self.status in (204, 304) else int(length) if length else None
        self._is_whole = not self._is_chunked and self._left == 0
        self._stays_open = self._left is not None and self.headers.get("Connection", "").lower() != "close"

    async def body(self, timeout: float) -> bytes:
        """The rest of the body."""
        pieces = []
        while piece := await self.piece(timeout):
            pieces.append(piece)
        if piece is None:
            raise BrokenResponse(f"no byte of the response came within {timeout} s")
        return b"".join(pieces)

    async def piece(self, timeout: float) -> Optional[bytes]:
        """The next bytes of the body; nothing at its end, `None` if nothing came in time."""
        while not self._is_whole:
            if data := self._decoded():
                return data
            if self._is_whole:
                break
            more = await self._stream.receive(timeout)
            if more is None:
                return None
            if not more:
                if self._left is not None:
                    raise BrokenResponse("the connection was closed in the middle of a response")
                self._is_whole = True
            self._buffer += more
        return b""

    def _decoded(self) -> bytes:
        """The next bytes of the body that have arrived."""
        while self._is_chunked and self._left == 0:
            line, ending, rest = self._buffer.partition(b"\r\n")
            if not ending:
                return b""
            if line:  # otherwise the end of the chunk before
                size = line.split(b";")[0].strip()
                if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size):
                    raise BrokenResponse("the response has a malformed chunk")
                self._left = int(size, 16)
                if self._left == 0:
                    # Trailers, of which there are none, and an empty line.
                    if b"\r\n" not in rest:
                        return b""
                    self._buffer = rest.partition(b"\r\n")[2]
                    self._is_whole = True
                    return b""
            self._buffer = rest
        data = self._buffer[: self._left]
        self._buffer = self._buffer[len(data):]
        if self._left is not None:
            self._left -= len(data)
            self._is_whole = self._left == 0 and not self._is_chunked
        return data

    async def _fill(self, timeout: float) -> None:
        data = await self._stream.receive(timeout)
        if not data:
            raise BrokenResponse(
                f"no response within {timeout} s" if data is None else "the connection was closed without a response")
        self._buffer += data

    async def close(self) -> None:
        await self._stream.close()
