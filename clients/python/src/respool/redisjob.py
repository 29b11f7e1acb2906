"""A job as Redis stores it: docs/protocol.md, "Reading a job"."""

from __future__ import annotations

import json
import math
from typing import Dict, List, Mapping, Optional

from .job import TERMINAL, Job, JobError, Output, milliseconds


def queued(id: str, fields: Mapping[str, str]) -> Job:
    """A job that is still in the inbox."""
    attempts = fields.get("attempts", "")
    given = {"state": "queued", "group": fields.get("group"), "attempts": attempts if attempts.isdigit() else "5"}
    return stored(id, {name: value for name, value in given.items() if value is not None}, None)


def stored(id: str, hash: Mapping[str, str], result: Optional[str]) -> Job:
    """A job that was admitted, from its hash and its result."""
    state = hash["state"]
    is_running, is_completed = state == "running", state == "completed"
    is_shown = is_running or state in TERMINAL
    words = hash.get("progress", "").split() if is_shown else []
    number = {name: _number(word) for name, word in zip(("fraction", "position", "duration", "speed", "eta"), words)}

    def time(name: str) -> Optional[str]:
        return hash.get(name)

    created, started, finished, due = time("created"), time("started"), time("finished"), time("due")
    failure = None
    if "error_code" in hash and not is_completed:
        failure = JobError.of(
            hash["error_code"], hash.get("error", ""), hash.get("retryable") == "1", json.loads(hash.get("error_fields", "[]")))
    position = number.get("position")
    outputs: List[Output] = json.loads(result) if result and state in ("completed", "failed") else []
    return Job(
        id=id, state=state, phase=hash.get("phase") if is_running else None,
        attempt=int(hash.get("attempt", 0)), attempts=int(hash.get("attempts", 5)), crashes=int(hash.get("crashes", 0)),
        group=hash.get("group"), worker=hash["worker"].rpartition(":")[0] if is_shown and "worker" in hash else None,
        progress=1.0 if is_completed else number.get("fraction"),
        position=number.get("duration") or position if is_completed else position,
        duration=number.get("duration"), speed=number.get("speed"), eta=number.get("eta") if is_running else None,
        estimated=is_running and "estimated" in words,
        created=milliseconds(created or id.split("-")[0]), started=milliseconds(started) if started else None,
        finished=milliseconds(finished) if finished and state in TERMINAL else None,
        due=milliseconds(due) if due and state == "delayed" else None, error=failure, outputs=outputs)


def _number(word: str) -> Optional[float]:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def event_fields(values: Mapping[str, str]) -> Dict[str, str]:
    """The further fields of an event."""
    return {name: value for name, value in values.items() if name not in ("n", "id", "state")}
