"""How a client waits: one code for both clients, whose waits block the thread or suspend the task.

Everything above is written once, as coroutines. `BlockingRuntime` gives them operations that block and never suspend, so that
`run` drives such a coroutine to its end without an event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import ssl
import subprocess
import time
from typing import Any, Coroutine, Mapping, Optional, Protocol, Sequence, Tuple, TypeVar

T = TypeVar("T")
#: The exit status and the output of a program.
Finished = Tuple[int, str, str]


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine whose operations all block."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a blocking client was suspended")


class Deadline:
    """The time until which something may last."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self, at_most: float) -> float:
        """The seconds that are left, from 0 up to a maximum."""
        return at_most if self._end is None else min(at_most, max(0.0, self._end - time.monotonic()))

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end


@dataclasses.dataclass(frozen=True)
class Address:
    host: str
    port: int
    tls: Optional[ssl.SSLContext]


class Stream(Protocol):
    """A connection."""

    async def send(self, data: bytes, timeout: float) -> None: ...

    async def receive(self, timeout: float) -> Optional[bytes]:
        """What came; nothing at the end of the stream, `None` if nothing came in time."""

    async def close(self) -> None: ...


class Runtime(Protocol):
    is_async: bool

    async def sleep(self, seconds: float) -> None: ...

    async def connect(self, address: Address, timeout: float) -> Stream: ...

    async def execute(self, words: Sequence[str], environment: Mapping[str, str], timeout: float) -> Finished: ...


class BlockingRuntime:
    is_async = False

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def connect(self, address: Address, timeout: float) -> Stream:
        link = socket.create_connection((address.host, address.port), timeout)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return BlockingStream(address.tls.wrap_socket(link, server_hostname=address.host) if address.tls else link)

    async def execute(self, words: Sequence[str], environment: Mapping[str, str], timeout: float) -> Finished:
        try:
            done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise OSError(f"`{words[0]}` did not end within {timeout} s") from None
        return done.returncode, done.stdout, done.stderr


class BlockingStream:
    def __init__(self, link: socket.socket) -> None:
        self._link = link

    async def send(self, data: bytes, timeout: float) -> None:
        self._link.settimeout(timeout)
        self._link.sendall(data)

    async def receive(self, timeout: float) -> Optional[bytes]:
        self._link.settimeout(max(timeout, 0.001))
        try:
            return self._link.recv(65536)
        except socket.timeout:
            return None

    async def close(self) -> None:
        self._link.close()


class AsyncRuntime:
    is_async = True

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def connect(self, address: Address, timeout: float) -> Stream:
        try:
            pair = await asyncio.wait_for(asyncio.open_connection(address.host, address.port, ssl=address.tls), timeout)
        except asyncio.TimeoutError:
            raise OSError(f"{address.host} did not accept a connection within {timeout} s") from None
        return AsyncStream(*pair)

    async def execute(self, words: Sequence[str], environment: Mapping[str, str], timeout: float) -> Finished:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *words, env=dict(environment), stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        try:
            output, errors = await asyncio.wait_for(process.communicate(), timeout)
        except asyncio.TimeoutError:
            raise OSError(f"`{words[0]}` did not end within {timeout} s") from None
        finally:
            if process.returncode is None:
                process.kill()
        return process.returncode or 0, output.decode(), errors.decode()


class AsyncStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes, timeout: float) -> None:
        self._writer.write(data)
        try:
            await asyncio.wait_for(self._writer.drain(), timeout)
        except asyncio.TimeoutError:
            raise OSError(f"the request could not be sent within {timeout} s") from None

    async def receive(self, timeout: float) -> Optional[bytes]:
        try:
            return await asyncio.wait_for(self._reader.read(65536), timeout)
        except asyncio.TimeoutError:
            return None

    async def close(self) -> None:
        self._writer.close()
