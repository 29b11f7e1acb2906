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


def read(id, again=False):
    """The job as it is now: its id, which is another one's if it is a duplicate, and its hash."""
    id = queue.get(PREFIX + "alias:" + id) or id
    job = queue.hgetall(PREFIX + "job:" + id)
    # Without a hash it is still in the inbox, or it was admitted just now, or there is none.
    if job or queue.xrange(PREFIX + "in", id, id):
        return id, job
    return (id, {"state": "no such job"}) if again else read(id, again=True)


def watch(id):
    # The place in the stream first, then the job: so nothing that happens in between is missed.
    newest = queue.xrevrange(PREFIX + "events", count=1)
    last, number = (newest[0][0], int(newest[0][1]["n"])) if newest else ("0-0", 0)
    changed = True
    while True:
        try:
            streams = queue.xread({PREFIX + "events": last}, count=100, block=None if changed else 1000)
            for last, event in streams[0][1] if streams else []:
                # A gap in the numbers: events are gone from the stream, so the job itself must tell.
                changed = changed or event["id"] == id or int(event["n"]) != number + 1
                number = int(event["n"])
                if event["id"] == id:
                    print(*(event[name] for name in ("state", "phase", "progress") if name in event), flush=True)
            if changed:
                id, job = read(id)
                state = job.get("state", "queued")
                if state == "completed":
                    outputs = json.loads(queue.get(PREFIX + "result:" + id) or "[]")
                    return [print("completed", output["url"], output["bytes"], "bytes") for output in outputs]
                if state in ("failed", "cancelled", "no such job"):
                    sys.exit(" ".join([state, job.get("error_code", ""), job.get("error", "")]).strip())
                changed = False  # only after a read that succeeded, for `last` has moved on
        except (redis.ConnectionError, redis.TimeoutError):
            changed = True
            time.sleep(1)  # `last` says where to go on


if __name__ == "__main__" and len(sys.argv) > 2:
    print(push(*sys.argv[2:])) if sys.argv[1] == "push" else watch(sys.argv[2])
else:
    sys.exit(__doc__)
