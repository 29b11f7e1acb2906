"""Redis is killed and restarted twice in the middle of many jobs; the worker goes on and nothing is lost."""

import pathlib
import time

import pytest
from sound import sha256
from service import PREFIX, check, children, equal, until


@pytest.mark.redis_options("--appendonly", "yes", "--appendfsync", "always")
@pytest.mark.quick
def test_no_job_is_lost_when_redis_is_killed_and_restarted(service, start_worker, audio, figures):
    count = 24
    audio("a.flac", 60)
    worker = start_worker(slots=2)
    ids = service.push(*({"source": service.source("a.flac"), "format": "mp3"} for _ in range(count)))
    pairs = None
    seen = []
    for number in (count // 4, count // 2):
        until(f"{number} jobs completed", 120, lambda: service.redis("ZCARD", PREFIX + "done") >= number, 0.02)
        pairs = pairs or children(worker.pid)
        seen.append(service.redis("ZCARD", PREFIX + "done"))
        check(seen[-1] < count - 5, "Redis was to be killed in the middle of the jobs")
        service.redis.kill()
        time.sleep(1.5)
        service.redis.start()
        check(service.redis("ZCARD", PREFIX + "done") >= seen[-1], "Redis forgot completed jobs")
    records = service.completed(ids, 120)
    check(worker.is_running, "the worker ended")
    check(set(pairs) <= set(children(worker.pid)), "children were replaced")
    equal(sum(record["crashes"] for record in records.values()), 0, "crashes charged")
    equal({record["attempt"] for record in records.values()}, {1}, "attempts")
    for id in ids:
        equal(sha256(pathlib.Path(service.outputs) / f"{id}.mp3"), records[id]["outputs"][0]["sha256"], f"sum of {id}")
    equal(service.staged(), [], "staged files")
    service.check_keys()
    figures(f"killed after {seen[0]} and {seen[1]} of {count} jobs; {count} completed by worker {worker.pid} and the same "
            f"children, 0 crashes charged, every job in its first attempt")
