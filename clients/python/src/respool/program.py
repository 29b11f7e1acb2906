"""`respool cancel`, for an account of Redis: the scripts that change a job belong to the programs of respool."""

from __future__ import annotations

import json
import os

from .errors import AccessDenied, NoSuchJob, RequestFailed, TooLate, Unreachable
from .runtime import Runtime


async def cancel(runtime: Runtime, program: str, url: str, queue: str, id: str) -> str:
    environment = {**os.environ, "RESPOOL_REDIS_URL": url, "RESPOOL_QUEUE": queue}
    try:
        status, output, errors = await runtime.execute([program, "cancel", "--json", id], environment, 60.0)
    except FileNotFoundError:
        raise RequestFailed(
            f"over Redis, jobs are cancelled by the command `{program}`, which is not installed here: install it, name it as "
            "`program`, or use the HTTP API") from None
    except OSError as error:
        raise Unreachable(str(error)) from None
    if status == 3:
        raise Unreachable(errors.strip())
    try:
        reply = json.loads(output.splitlines()[0])
    except (IndexError, ValueError):
        message = errors.strip() or f"`{program} cancel` ended with {status}"
        raise (AccessDenied if "NOPERM" in message else RequestFailed)(message) from None
    result: str = reply["result"]
    if result == "unknown":
        raise NoSuchJob(id)
    if result == "too_late":
        raise TooLate(reply["reason"])
    return result
