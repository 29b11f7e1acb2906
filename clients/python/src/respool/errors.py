"""What calls of the clients raise; all of it is a `RespoolError`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, List, Optional, Sequence

if TYPE_CHECKING:
    from .job import Job


class RespoolError(Exception):
    """The base of all errors of this package."""

    def __init__(self, message: str, pushed: Sequence[str] = ()) -> None:
        super().__init__(message)
        #: The ids of the jobs of `push_many` that are pushed already.
        self.pushed: List[str] = list(pushed)


@dataclasses.dataclass(frozen=True)
class FieldError:
    """What is wrong in a pushed job."""

    #: A JSON pointer: `/bit_rate`, or `/jobs/2/bit_rate` of a list.
    pointer: str
    message: str


class InvalidJob(RespoolError):
    """A job was refused before it was pushed."""

    def __init__(self, errors: Sequence[FieldError], pushed: Sequence[str] = ()) -> None:
        super().__init__("; ".join(f"{error.pointer}: {error.message}" for error in errors), pushed)
        self.errors = list(errors)


class Unreachable(RespoolError):
    """The service did not respond for as long as `reconnect_timeout` allows."""

    def __init__(self, message: str, *, may_have_pushed: bool = False, pushed: Sequence[str] = ()) -> None:
        super().__init__(message, pushed)
        #: Whether jobs may have been pushed although their ids are unknown.
        self.may_have_pushed = may_have_pushed


class AccessDenied(RespoolError):
    """The token or the account of Redis does not allow the call."""


class RequestFailed(RespoolError):
    """The service refused a request for another reason."""

    def __init__(self, message: str, code: str = "", status: Optional[int] = None) -> None:
        super().__init__(message)
        #: The code of the problem, such as `key_reused`.
        self.code = code
        #: The status of the HTTP response.
        self.status = status


class NoSuchJob(RespoolError):
    """No job has the id. It may have been deleted."""

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no job {id}: it may have been deleted")
        self.id = id


class TooLate(RespoolError):
    """A job cannot be cancelled: it has ended, or its result is being published."""


class JobFailed(RespoolError):
    """A job that was waited for has failed."""

    def __init__(self, job: Job) -> None:
        error = job.error
        #: A code such as `source_not_found`; docs/errors.md lists them.
        self.code = error.code if error else "internal"
        #: A sentence that says what failed.
        self.message = error.message if error else ""
        self.job = job
        super().__init__(f"job {job.id} failed: {self.code}: {self.message}")


class JobCancelled(RespoolError):
    """A job that was waited for was cancelled."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.id} was cancelled")
        self.job = job


class WaitTimeout(RespoolError, TimeoutError):
    """The jobs did not end within the `timeout` of a wait; they go on."""
