"""What both ways to the service have in common."""

from __future__ import annotations

import random
from typing import AsyncGenerator, List, Mapping, Optional, Protocol, Sequence

from .event import Change
from .job import Job
from .runtime import Deadline, Runtime

#: A job as it is pushed: fields with their values.
Fields = Mapping[str, object]
#: Changes that came together. The first list comes when the position is fixed, with a `Gap` unless it was given; an empty one at
#: least each second.
Changes = AsyncGenerator[List[Change], None]


class Transport(Protocol):
    async def push(self, jobs: Sequence[Fields], key: Optional[str], is_list: bool) -> List[str]:
        """Pushes jobs; returns their ids."""

    async def read(self, id: str) -> Job:
        """A job as it is now; of a duplicate the job that it stands for."""

    def follow(self, job: Optional[str], after: Optional[str], deadline: Deadline) -> Changes:
        """The changes after a position, or from now on; across lost connections, until the deadline has passed."""

    def watch(self, id: str, deadline: Deadline) -> Changes:
        """Changes after which the job may have ended; a `Gap` if it may at any rate."""

    async def cancel(self, id: str) -> str:
        """Asks for the end of a job: `cancelled`, or `requested` if it is running."""

    async def close(self) -> None: ...


class Backoff:
    """The waits between attempts to reach the service, from a tenth of a second to two."""

    def __init__(self, runtime: Runtime, limit: float) -> None:
        self._runtime = runtime
        self._limit = limit
        self.restart()

    def restart(self) -> None:
        """Begins again, when the service has responded."""
        self._deadline = Deadline(self._limit)
        self._pause = 0.1

    async def wait(self, at_least: float = 0.0) -> bool:
        """Waits for the next attempt; `False` if there is to be none."""
        if self._deadline.is_over:
            return False
        pause = max(at_least, self._pause * random.uniform(0.75, 1.25))
        await self._runtime.sleep(self._deadline.left(pause))
        self._pause = min(2.0, self._pause * 2)
        return True
