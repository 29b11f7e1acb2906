"""A worker that is told to stop lets short jobs finish and gives long ones back uncharged; told twice, it stops at once."""

import os
import signal
import time

import pytest
from sound import decode
from service import PREFIX, check, children, equal, is_alive, until


@pytest.mark.long
@pytest.mark.alone
def test_a_stopped_worker_finishes_short_jobs_and_gives_long_ones_back(service, start_worker, audio, web, figures):
    sound = audio("short.wav", 2, seed=3)
    audio("late.wav", 2, seed=3)
    audio("trickle.wav", 60)
    audio("long.flac", 1800, "-compression_level", "0", channels=2)
    web.rules = {"/short.wav": {"rate": 80_000}, "/trickle.wav": {"rate": 80_000}}
    settings = {"slots": 3, "allow_hosts": "127.0.0.1"}

    def end(worker, pids, seconds):
        status = worker.wait(seconds)
        check(len(pids) >= 2, "the worker had no children")
        # A killed process is not gone at once on a busy machine.
        until("the worker's children are gone", 2, lambda: not any(map(is_alive, pids)))
        equal(service.staged(), [], "staged files after the worker's end")
        return status

    def given_back(ids, when):
        for id, record in service.status(ids).items():
            equal((record["state"], record["attempt"], record["crashes"]), ("waiting", 0, 0), f"{id} {when}")
        equal(service.redis("ZCARD", PREFIX + "lease"), 0, f"leases {when}")

    worker = start_worker(**settings, grace=4)
    short, *long = service.push({"source": f"{web.url}/short.wav", "format": "wav"},
                               {"source": f"{web.url}/trickle.wav", "format": "wav"},
                               {"source": service.source("long.flac"), "format": "opus"})
    service.wait([short, *long], 20, ["running"])
    pids = children(worker.pid)
    begin = time.monotonic()
    worker.send(signal.SIGTERM)
    late = service.push({"source": service.source("late.wav"), "format": "wav"})
    equal(end(worker, pids, 15), 0, "exit status after SIGTERM")
    drained = time.monotonic() - begin
    check(3.5 <= drained <= 8, f"with 4 s of grace it took {drained:.1f} s")
    equal(service.status([short])[short]["state"], "completed", "the short job")
    check(decode(f"{service.outputs}/{short}.wav") == sound, "the short job's result is not its source")
    given_back(long, "after the grace")
    equal(os.listdir(service.outputs), [f"{short}.wav"], "files in the output root")
    check(service.status(late)[late[0]]["state"] in ("queued", "waiting"), "a draining worker took another job")

    worker = start_worker(**settings, grace=60)
    service.wait(long, 20, ["running"])
    service.completed(late, 20)
    pids = children(worker.pid)
    worker.send(signal.SIGTERM)
    time.sleep(1)
    check(worker.is_running, "the first signal ended a worker with running jobs")
    begin = time.monotonic()
    worker.send(signal.SIGTERM)
    status = end(worker, pids, 5)
    stopped = time.monotonic() - begin
    check(stopped <= 2, f"the second signal took {stopped:.1f} s")
    given_back(long, "after the second signal")

    worker = start_worker(**settings)
    records = service.wait(long, 20, ["running"])
    equal({record["crashes"] for record in records.values()}, {0}, "crashes after two stops")
    equal({record["attempt"] for record in records.values()}, {1}, "attempts after two stops")
    service.respool("cancel", long[0])
    service.completed(long[1:], 120)
    service.wait(long, 5)
    pids = children(worker.pid)
    begin = time.monotonic()
    worker.send(signal.SIGTERM)
    equal(end(worker, pids, 10), 0, "exit status of an idle worker")
    idle = time.monotonic() - begin
    check(idle <= 3, f"an idle worker took {idle:.1f} s to end")
    service.check_keys()
    figures(f"SIGTERM with 4 s of grace: ended with 0 after {drained:.1f} s, the short job completed, {len(long)} long ones "
            f"given back at attempt 0, crashes 0; second signal: ended with {status} after {stopped:.2f} s; idle: "
            f"{idle:.2f} s; no child left")
