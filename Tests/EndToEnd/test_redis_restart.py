"""Redis is killed and restarted twice in the middle of many jobs; the worker goes on and nothing is lost."""

import pathlib

import pytest
from sound import sha256
from service import PREFIX, check, children, equal, until


@pytest.mark.redis_options("--appendonly", "yes", "--appendfsync", "always")
@pytest.mark.quick
def test_no_job_is_lost_when_redis_is_killed_and_restarted(service, start_worker, audio, figures):
    count = 24
    audio("a.flac", 60)
    worker = start_worker(slots=2)
    job = {"source": service.source("a.flac"), "format": "mp3"}
    ids = service.push(*[job] * count)
    pairs = None
    seen = []

    def outages():
        return pathlib.Path(worker.log).read_text().count("retrying")

    for number in (count // 4, count // 2):
        until(f"{number} jobs completed", 120, lambda: service.redis("ZCARD", PREFIX + "done") >= number, 0.02)
        pairs = pairs or children(worker.pid)
        seen.append(service.redis("ZCARD", PREFIX + "done"))
        # Redis is killed in the middle of the jobs, however late this is.
        ids += service.push(*[job] * max(0, seen[-1] + 6 - len(ids)))
        before = outages()
        service.redis.kill()
        until("the worker notices the outage", 20, lambda: outages() > before)
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
    figures(f"killed after {seen[0]} and {seen[1]} of {len(ids)} jobs; {len(ids)} completed by worker {worker.pid} and the same "
            f"children, 0 crashes charged, every job in its first attempt")
