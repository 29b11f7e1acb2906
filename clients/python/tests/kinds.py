"""The blocking and the asyncio client behind the same blocking calls, so that each test is of both."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncGenerator, Iterator, List, Optional

from installation import Installation

from respool import AsyncClient, Client

#: Each client over each way to the service.
KINDS = ["blocking-redis", "blocking-http", "asyncio-redis", "asyncio-http"]


class Calls:
    """The calls of a client; those of the asyncio client run on an event loop of this object."""

    def __init__(self, kind: str, url: str, **options: Any) -> None:
        self.is_http = url.startswith("http")
        self._loop = asyncio.new_event_loop() if kind.startswith("asyncio") else None
        self._client: Any = AsyncClient(url, **options) if self._loop else Client(url, **options)

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)
        if not self._loop:
            return call
        if name in ("events", "wait_many"):
            return lambda *words, **options: self._items(call(*words, **options))
        return lambda *words, **options: self._run(call(*words, **options))

    def _run(self, work: Any) -> Any:
        assert self._loop
        return self._loop.run_until_complete(work)

    def _items(self, items: AsyncGenerator[Any, None]) -> Iterator[Any]:
        try:
            while True:
                try:
                    item = self._run(items.__anext__())
                except StopAsyncIteration:
                    return
                yield item
        finally:
            self._run(items.aclose())

    def take(self, count: int, job: Optional[str] = None, after: Optional[str] = None) -> List[Any]:
        """The next changes."""
        changes = self.events(job, after)
        try:
            return [next(changes) for _ in range(count)]
        finally:
            changes.close()

    def close(self) -> None:
        if self._loop:
            self._run(self._client.close())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        else:
            self._client.close()


def calls(kind: str, installation: Installation, **options: Any) -> Calls:
    """A client of a kind of `KINDS`."""
    if kind.endswith("http"):
        return Calls(kind, installation.http, token="operate-secret", **options)
    return Calls(kind, installation.redis_url, program=installation.program, **options)
