"""Changes of jobs and of the queue."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Mapping, Optional, Union

from .job import milliseconds


@dataclasses.dataclass(frozen=True)
class Event:
    """A change of a job or of the queue; docs/protocol.md lists them."""

    #: Where it is in the stream: give it as `after` to continue behind it.
    id: str
    #: Counts up by one from event to event of the queue.
    n: int
    #: The job, or `None` if the change concerns the queue.
    job: Optional[str]
    #: The job's new state, or `duplicate`, `purged`, `paused`, `resumed`, `sealed` or `group_ended`.
    state: str
    #: Further fields, such as `phase`, `code` or `due`, as text.
    details: Mapping[str, str]

    @property
    def phase(self) -> Optional[str]:
        return self.details.get("phase")

    @property
    def progress(self) -> Optional[float]:
        """The fraction that is done, if the event has it."""
        try:
            return float(self.details["progress"])
        except (KeyError, ValueError):
            return None

    @property
    def at(self) -> datetime.datetime:
        """When it happened, by the clock of Redis."""
        return milliseconds(self.id.split("-")[0])


@dataclasses.dataclass(frozen=True)
class Gap:
    """Events before this were not seen: read what you show. It is the first change without `after`, and told when events were lost."""


Change = Union[Event, Gap]
