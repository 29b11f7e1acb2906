"""A job as it was when it was read."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Dict, List, Mapping, Optional, Tuple

#: `queued`, `waiting`, `delayed`, `running`, `completed`, `failed` or `cancelled`.
State = str
TERMINAL = frozenset({"completed", "failed", "cancelled"})

#: The report of an output, with the keys of docs/protocol.md: `url`, `bytes`, `sha256`, `duration` and others.
Output = Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class WrongField:
    """A field of a job that is wrong."""

    #: In one of several outputs, as in `outputs[1].bit_rate`.
    field: str
    message: str


@dataclasses.dataclass(frozen=True)
class JobError:
    """Why the last attempt of a job failed."""

    code: str
    message: str
    retryable: bool
    #: All wrong fields, at most 16, if the job was refused for them.
    fields: Tuple[WrongField, ...] = ()

    @classmethod
    def of(cls, code: str, message: str, retryable: bool, fields: Optional[List[Dict[str, str]]]) -> JobError:
        """The error with wrong fields as they are in JSON."""
        return cls(code, message, retryable, tuple(WrongField(one["field"], one["message"]) for one in fields or []))


@dataclasses.dataclass(frozen=True)
class Job:
    """A job; what does not apply to its state is `None`."""

    id: str
    state: State
    #: `opening`, `waiting`, `analyzing`, `converting` or `publishing`, of a running job.
    phase: Optional[str]
    #: The number of the last attempt, 0 before the first, and how many there are at most.
    attempt: int
    attempts: int
    crashes: int
    group: Optional[str]
    #: `host:pid` of its last worker.
    worker: Optional[str]
    #: The fraction that is done.
    progress: Optional[float]
    #: Seconds of the range that are converted, and how long it is.
    position: Optional[float]
    duration: Optional[float]
    #: Seconds of audio a second, and seconds left.
    speed: Optional[float]
    eta: Optional[float]
    #: Whether the progress is an estimate.
    estimated: bool
    created: datetime.datetime
    started: Optional[datetime.datetime]
    finished: Optional[datetime.datetime]
    #: When a delayed job may run.
    due: Optional[datetime.datetime]
    error: Optional[JobError]
    #: A report for each output of a job that has completed, or of which some outputs were made.
    outputs: List[Output]

    @property
    def has_ended(self) -> bool:
        """Whether the job has completed, failed or was cancelled."""
        return self.state in TERMINAL

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Job:
        """The job in a response of the HTTP API."""
        error = record["error"]
        same = ("id", "state", "phase", "attempt", "attempts", "crashes", "group", "worker", "progress", "position", "duration",
                "speed", "eta", "estimated")
        return cls(
            **{name: record[name] for name in same},
            created=_instant(record["created_at"]), started=_moment(record["started_at"]),
            finished=_moment(record["finished_at"]), due=_moment(record["due_at"]),
            error=JobError.of(error["code"], error["message"], error["retryable"], error.get("fields")) if error else None,
            outputs=record["outputs"] or [])


def milliseconds(text: str) -> datetime.datetime:
    """The time so many milliseconds after 1970."""
    return datetime.datetime.fromtimestamp(0, datetime.timezone.utc) + datetime.timedelta(milliseconds=int(text))


def _instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def _moment(text: Optional[str]) -> Optional[datetime.datetime]:
    return _instant(text) if text else None
