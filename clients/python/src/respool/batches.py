"""Lists of jobs as bodies of requests."""

from __future__ import annotations

import json
from typing import List, Sequence

from .errors import FieldError, InvalidJob
from .transport import Fields

#: What a request of many jobs may hold; the server takes 1,000 jobs and 4 MiB.
_MAX_JOBS = 1000
_MAX_BYTES = 2 << 20


def batches(jobs: Sequence[Fields]) -> List[List[bytes]]:
    """The jobs as JSON, in lists that fit in a request."""
    found: List[List[bytes]] = []
    size = 0
    for index, job in enumerate(jobs):
        try:
            text = json.dumps(job, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise InvalidJob([FieldError(f"/jobs/{index}" if len(jobs) > 1 else "", f"the job is not JSON: {error}")]) from None
        size += len(text) + 1
        if not found or len(found[-1]) == _MAX_JOBS or size > _MAX_BYTES:
            found.append([])
            size = len(text) + 1
        found[-1].append(text)
    return found


def moved(error: FieldError, offset: int) -> FieldError:
    """An error of a later request, with the job's place in the whole list."""
    parts = error.pointer.split("/", 3)
    if not offset or len(parts) < 3 or not parts[2].isdigit():
        return error
    return FieldError("/".join(["", "jobs", str(int(parts[2]) + offset), *parts[3:]]), error.message)
