"""Client of respool, audio conversion as a service: pushes jobs and follows them, over Redis or the HTTP API."""

from .blocking import Client
from .client import AsyncClient
from .errors import (
    AccessDenied,
    FieldError,
    InvalidJob,
    JobCancelled,
    JobFailed,
    NoSuchJob,
    RequestFailed,
    RespoolError,
    TooLate,
    Unreachable,
    WaitTimeout,
)
from .event import Event, Gap
from .fields import JobFields
from .job import Job, JobError, Output, WrongField

__all__ = [
    "AccessDenied", "AsyncClient", "Client", "Event", "FieldError", "Gap", "InvalidJob", "Job", "JobCancelled", "JobError",
    "JobFailed", "JobFields", "NoSuchJob", "Output", "RequestFailed", "RespoolError", "TooLate", "Unreachable", "WaitTimeout", "WrongField",
]
