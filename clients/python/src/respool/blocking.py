"""The blocking client."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Any, AsyncGenerator, Generator, Iterable, List, Optional, Type, TypeVar

from .client import AsyncClient
from .event import Change
from .fields import JobFields
from .job import Job
from .runtime import BlockingRuntime, run

T = TypeVar("T")


class _Calls(AsyncClient):
    """The same calls, whose waits block."""

    _runtime = BlockingRuntime()


class Client:
    """Pushes jobs to respool and follows them; each call blocks. Arguments and errors are those of `AsyncClient`."""

    def __init__(self, url: str, *, queue: Optional[str] = None, token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None,
                 program: str = "respool", reconnect_timeout: float = 30.0) -> None:
        self._calls = _Calls(url, queue=queue, token=token, tls=tls, program=program, reconnect_timeout=reconnect_timeout)

    def push(self, fields: JobFields, *, idempotency_key: Optional[str] = None) -> str:
        """Pushes a job and returns its id; see `AsyncClient.push`."""
        return run(self._calls.push(fields, idempotency_key=idempotency_key))

    def push_many(self, jobs: Iterable[JobFields], *, idempotency_key: Optional[str] = None) -> List[str]:
        """Pushes jobs and returns their ids, in the same order."""
        return run(self._calls.push_many(jobs, idempotency_key=idempotency_key))

    def status(self, id: str) -> Job:
        """A job as it is now; the id of a duplicate gives the job that it stands for."""
        return run(self._calls.status(id))

    def wait(self, id: str, timeout: Optional[float] = None) -> Job:
        """Waits until a job has completed; raises `JobFailed` or `JobCancelled` if it ends otherwise."""
        return run(self._calls.wait(id, timeout))

    def wait_many(self, ids: Iterable[str], timeout: Optional[float] = None) -> Generator[Job, None, None]:
        """Yields each job when it has ended, also one that has failed; duplicates of one job give it once."""
        return _items(self._calls.wait_many(ids, timeout))

    def events(self, job: Optional[str] = None, after: Optional[str] = None) -> Generator[Change, None, None]:
        """Yields each change of a job or of the queue; see `AsyncClient.events`."""
        return _items(self._calls.events(job, after))

    def cancel(self, id: str) -> str:
        """Cancels a job; see `AsyncClient.cancel`."""
        return run(self._calls.cancel(id))

    def close(self) -> None:
        """Closes the connections."""
        run(self._calls.close())

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()


def _items(items: AsyncGenerator[T, Any]) -> Generator[T, None, None]:
    try:
        while True:
            try:
                item = run(items.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run(items.aclose())
