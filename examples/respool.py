#!/usr/bin/env python3
"""Pushes a job to respool and follows it to its end, with redis-py alone.

    respool.py push SOURCE FORMAT [FIELD=VALUE…]    prints the job's id
    respool.py watch ID                             ends with 1 if the job does not complete
"""
import json, os, sys, time
import redis

PREFIX = "respool:{%s}:" % os.environ.get("RESPOOL_QUEUE", "default")
queue = redis.Redis.from_url(os.environ.get("RESPOOL_REDIS_URL", "redis://127.0.0.1:6379"), decode_responses=True)


def push(source, format, *fields):
    return queue.xadd(PREFIX + "in", {"source": source, "format": format, **dict(field.split("=", 1) for field in fields)})


def read(id):
    """The job as it is now: its id, which is another one's if it is a duplicate, and its hash."""
    id = queue.get(PREFIX + "alias:" + id) or id
    return id, queue.hgetall(PREFIX + "job:" + id)


def watch(id):
    # The place in the stream first, then the job: so nothing that happens in between is missed.
    newest = queue.xrevrange(PREFIX + "events", count=1)
    last, number = (newest[0][0], int(newest[0][1]["n"])) if newest else ("0-0", 0)
    id, job = read(id)
    while True:
        state = job.get("state", "queued")
        if state == "completed":
            return [print("completed", output["url"], output["bytes"], "bytes") for output in json.loads(queue.get(PREFIX + "result:" + id))]
        if state in ("failed", "cancelled", "purged"):
            sys.exit(" ".join([state, job.get("error_code", ""), job.get("error", "")]).strip())
        try:
            streams = queue.xread({PREFIX + "events": last}, count=100, block=1000)
            for last, event in streams[0][1] if streams else []:
                is_next, number = int(event["n"]) == number + 1, int(event["n"])
                if event.get("id") == id:
                    print(*(event[name] for name in ("state", "phase", "progress") if name in event), flush=True)
                # A gap in the numbers: events are gone from the stream, so the job itself must tell.
                if event.get("id") == id or not is_next:
                    id, job = read(id)
                    job = job or ({"state": "purged"} if event["state"] == "purged" else {})
        except redis.ConnectionError:
            time.sleep(1)  # `last` says where to go on


if __name__ == "__main__" and len(sys.argv) > 2:
    print(push(*sys.argv[2:])) if sys.argv[1] == "push" else watch(sys.argv[2])
else:
    sys.exit(__doc__)
