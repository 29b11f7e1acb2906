"""Problems in responses (RFC 9457), and the errors that they are."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .errors import AccessDenied, FieldError, InvalidJob, NoSuchJob, RequestFailed, TooLate


def problem_of(data: bytes) -> Dict[str, Any]:
    """The problem in a response; that of a proxy is none."""
    try:
        found = json.loads(data)
        return found if isinstance(found, dict) and "code" in found else {"code": "", "detail": "not a response of respool"}
    except ValueError:
        return {"code": "", "detail": "not a response of respool"}


def refusal(status: int, problem: Mapping[str, Any], id: Optional[str]) -> Exception:
    code, detail = problem["code"], problem["detail"]
    if status in (401, 403):
        return AccessDenied(detail)
    if status == 404 and id and detail.startswith("there is no job"):
        return NoSuchJob(id)
    if status == 409 and code == "too_late":
        return TooLate(detail)
    if status == 422 and code != "key_reused":
        parts: List[Tuple[str, str]] = [(part["pointer"], part["message"]) for part in problem.get("errors", [])]
        return InvalidJob([FieldError(*part) for part in parts or [("", detail)]])
    return RequestFailed(f"status {status}: {detail}", code, status)
