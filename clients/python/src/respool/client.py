"""The asyncio client, and the calls that the blocking one is made of."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import AsyncGenerator, Dict, Iterable, List, Optional, Type
from urllib.parse import urlsplit

from .api import API
from .errors import JobCancelled, JobFailed, WaitTimeout
from .event import Change, Event, Gap
from .fields import JobFields
from .job import Job
from .queue import Queue
from .runtime import AsyncRuntime, Deadline, Runtime
from .transport import Transport


def transport(url: str, runtime: Runtime, queue: Optional[str], token: Optional[str], tls: Optional[ssl.SSLContext],
              program: str, reconnect_timeout: float) -> Transport:
    """The way to the service that the scheme of an address names."""
    if urlsplit(url).scheme in ("http", "https"):
        return API(url, runtime, queue, token, tls, reconnect_timeout)
    if token is not None:
        raise ValueError("a token is of the HTTP API: an address of Redis has a user and a password")
    return Queue(url, runtime, queue, program, reconnect_timeout)


class AsyncClient:
    """Pushes jobs to respool and follows them, with asyncio.

    `url` is that of Redis (`redis://`, `rediss://`, `unix://`) or of the HTTP API (`http://`, `https://`, with a `token` where the
    server wants one). `reconnect_timeout` is for how many seconds a call tries to reach a service that does not respond. `program`
    is the command that cancels jobs over Redis. `tls` has the certificates for an `https://` address.
    """

    _runtime: Runtime = AsyncRuntime()

    def __init__(self, url: str, *, queue: Optional[str] = None, token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None,
                 program: str = "respool", reconnect_timeout: float = 30.0) -> None:
        self._transport = transport(url, self._runtime, queue, token, tls, program, reconnect_timeout)

    async def push(self, fields: JobFields, *, idempotency_key: Optional[str] = None) -> str:
        """Pushes a job and returns its id.

        Over HTTP, a job that is not valid raises `InvalidJob`, and a push whose response was lost is repeated with its key.
        Over Redis, a worker checks the job later, and only a job with a `dedup` key is pushed again.
        """
        return (await self._transport.push([fields], idempotency_key, is_list=False))[0]

    async def push_many(self, jobs: Iterable[JobFields], *, idempotency_key: Optional[str] = None) -> List[str]:
        """Pushes jobs and returns their ids, in the same order."""
        return await self._transport.push(list(jobs), idempotency_key, is_list=True)

    async def status(self, id: str) -> Job:
        """A job as it is now; the id of a duplicate gives the job that it stands for."""
        return await self._transport.read(id)

    async def wait(self, id: str, timeout: Optional[float] = None) -> Job:
        """Waits until a job has completed; raises `JobFailed` or `JobCancelled` if it ends otherwise."""
        ends = self._ends([id], id, timeout)
        try:
            job = await ends.__anext__()
        finally:
            await ends.aclose()
        if job.state == "failed":
            raise JobFailed(job)
        if job.state == "cancelled":
            raise JobCancelled(job)
        return job

    def wait_many(self, ids: Iterable[str], timeout: Optional[float] = None) -> AsyncGenerator[Job, None]:
        """Yields each job when it has ended, also one that has failed; duplicates of one job give it once."""
        return self._ends(list(ids), None, timeout)

    async def events(self, job: Optional[str] = None, after: Optional[str] = None) -> AsyncGenerator[Change, None]:
        """Yields each change of a job or of the queue: from now on, or after the event with an id. It does not end by itself.

        A `Gap` comes first, unless `after` is given: jobs that are read then are at least as new as the changes that follow.
        """
        changes = self._transport.follow(job, after, Deadline(None))
        try:
            async for batch in changes:
                for change in batch:
                    yield change
        finally:
            await changes.aclose()

    async def cancel(self, id: str) -> str:
        """Cancels a job: `cancelled`, or `requested` if it is running and ends within about a second.

        `TooLate` if it has ended otherwise, or if its result is being published.
        """
        return await self._transport.cancel(id)

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close()

    async def _ends(self, ids: List[str], only: Optional[str], timeout: Optional[float]) -> AsyncGenerator[Job, None]:
        """Yields each job when it has ended."""
        if not ids:
            return
        deadline = Deadline(timeout)
        # Each id to wait for, or the first job that it turned out to stand for.
        pending: Dict[str, str] = dict.fromkeys(ids, "")
        told = set()
        changes = self._transport.watch(only, deadline) if only else self._transport.follow(None, None, deadline)
        try:
            # The first batch has a gap, and the position is fixed: jobs are read after it, so no change in between is missed.
            async for batch in changes:
                all_may_differ = any(isinstance(change, Gap) for change in batch)
                named = {change.job for change in batch if isinstance(change, Event)}
                for id in [id for id, first in pending.items() if all_may_differ or id in named or first in named]:
                    job = await self._transport.read(id)
                    pending[id] = job.id
                    if job.has_ended:
                        del pending[id]
                        if job.id not in told:
                            told.add(job.id)
                            yield job
                if not pending:
                    return
                if deadline.is_over:
                    raise WaitTimeout(f"{len(pending)} of {len(ids)} jobs did not end within {timeout} s")
        finally:
            await changes.aclose()
