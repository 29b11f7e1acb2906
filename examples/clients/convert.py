#!/usr/bin/env python3
"""Pushes a job to respool and follows it to its end, with the client of clients/python.

    convert.py push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
    convert.py watch ID                             ends with 1 if the job does not complete

RESPOOL_URL is the address of Redis, or of the HTTP API with RESPOOL_TOKEN.
"""
import os
import sys

from respool import Client, Gap, NoSuchJob

url = os.environ.get("RESPOOL_URL") or os.environ.get("RESPOOL_REDIS_URL", "redis://127.0.0.1:6379")


def watch(respool, id):
    for change in respool.events(id):
        if not isinstance(change, Gap):
            print(*(word for word in (change.state, change.phase, change.progress) if word is not None), flush=True)
            if change.state not in ("completed", "failed", "cancelled", "purged"):
                continue
        # First, and after a gap in the events, only the job itself can tell.
        job = respool.status(id)
        if job.state == "completed":
            return [print("completed", output["url"], output["bytes"], "bytes") for output in job.outputs]
        if job.has_ended:
            sys.exit(" ".join([job.state, *((job.error.code, job.error.message) if job.error else ())]))


if len(sys.argv) < 3:
    sys.exit(__doc__)
with Client(url, queue=os.environ.get("RESPOOL_QUEUE"), token=os.environ.get("RESPOOL_TOKEN")) as respool:
    try:
        if sys.argv[1] == "push":
            source, format, *fields = sys.argv[2:]
            print(respool.push({"source": source, "format": format, **dict(field.split("=", 1) for field in fields)}))
        else:
            watch(respool, sys.argv[2])
    except NoSuchJob:
        sys.exit("no such job")
