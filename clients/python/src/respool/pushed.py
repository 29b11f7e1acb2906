"""The fields of a job as text, as an entry of the inbox has them."""

from __future__ import annotations

import decimal
import json
import math
from typing import Dict, List

from .errors import FieldError, InvalidJob
from .transport import Fields

_MAX_FIELDS = 64
_MAX_VALUE = 16 << 10
_MAX_ALL = 64 << 10


def texts(fields: Fields, pointer: str = "") -> Dict[str, str]:
    """The fields with their values as text, `None` left out; `pointer` is where the job is in a list."""
    found: Dict[str, str] = {}
    errors: List[FieldError] = []
    for name, value in fields.items():
        place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        try:
            if value is not None:
                found[name] = _text(value)
        except (TypeError, ValueError) as error:
            errors.append(FieldError(place, str(error)))
            continue
        if len(found.get(name, "").encode()) > _MAX_VALUE:
            errors.append(FieldError(place, "the value has more than 16 KiB"))
    if not 1 <= len(found) <= _MAX_FIELDS:
        errors.append(FieldError(pointer, f"the job has {len(found)} fields: give 1 to {_MAX_FIELDS}"))
    elif sum(len((name + value).encode()) for name, value in found.items()) > _MAX_ALL:
        errors.append(FieldError(pointer, "the job has more than 64 KiB"))
    if any(name.startswith("_") for name in found):
        errors.append(FieldError(pointer, "a name of a field must not begin with '_'"))
    if errors:
        raise InvalidJob(errors)
    return found


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number")
        return str(int(value)) if value.is_integer() else format(decimal.Decimal(repr(value)), "f")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
