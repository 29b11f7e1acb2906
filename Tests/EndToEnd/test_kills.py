"""Workers and their children are killed all the time; every job ends once, with the right file."""

import collections
import os
import pathlib
import random
import signal
import time

import pytest
from sound import decode, probe, same, sha256
from service import HANG, PREFIX, check, children, equal

FORMATS = {"flac": "flac", "mp3": "mp3", "wav": "wav", "m4a": "m4a", "opus": "opus"}
SOURCES = 4
SECONDS = 20


@pytest.mark.parametrize(("count", "kills"), [
    pytest.param(30, 2, marks=pytest.mark.quick), pytest.param(300, None, marks=pytest.mark.soak)])
def test_jobs_end_once_while_workers_and_children_are_killed(service, start_worker, audio, option, figures, count, kills):
    """`kills` is how many workers are killed, and how many of each kind of child; all the time, if there is none."""
    chance = random.Random(option("seed", random.randrange(1 << 32)))
    sources = [audio(f"{number}.flac", SECONDS, seed=number) for number in range(SOURCES)]
    jobs = [{"source": service.source(f"{n % SOURCES}.flac"), "format": list(FORMATS)[n % len(FORMATS)]}
            for n in range(count)]

    def worker():
        return start_worker(slots=1, max_crashes=100, log="info")

    workers = [worker() for _ in range(3)]
    ids = service.push(*jobs)
    killed = collections.Counter()
    # Kills follow the jobs that complete, not the clock: on a slow machine, a job would otherwise never get to its end.
    due = {"worker": 2, "child": 1}
    before, moment = 0, time.monotonic()
    while (done := service.redis("ZCARD", PREFIX + "done")) < count:
        if done > before:
            before, moment = done, time.monotonic()
        check(time.monotonic() < moment + HANG, f"{done} of {count} jobs completed, and none in the last {HANG} s")
        check(service.redis("ZCARD", PREFIX + "failed") == 0, "a job failed")
        # So that jobs are hit in all of their moments.
        time.sleep(chance.uniform(0.02, 0.2))
        if done >= due["worker"] and killed["workers"] != kills:
            due["worker"] = done + 3
            victim = chance.randrange(3)
            workers[victim].kill()
            workers[victim] = worker()
            killed["workers"] += 1
        if done >= due["child"]:
            due["child"] = done + 1
            found = [(pid, program) for pid, program in sorted(children(workers[chance.randrange(3)].pid).items()) if killed[program] != kills]
            if found:
                child, program = chance.choice(found)
                try:
                    os.kill(child, signal.SIGKILL)
                    killed[program] += 1
                except ProcessLookupError:
                    pass
    least = kills or 3
    check(min(killed["workers"], killed["respool-transfer"], killed["respool-transcode"]) >= least,
          f"too few kills to show anything: {dict(killed)}")

    records = service.completed(ids, 10)
    right = {}
    for number, id in enumerate(ids):
        format = jobs[number]["format"]
        path = pathlib.Path(service.outputs) / f"{id}.{FORMATS[format]}"
        digest = sha256(path)
        equal(records[id]["outputs"][0]["sha256"], digest, f"sum of {path.name}")
        key = (number % SOURCES, format, digest)
        if key not in right:
            raw = decode(path)
            source = sources[number % SOURCES]
            if format in ("flac", "wav"):
                same(raw, source, path.name)
            else:
                length = len(source) // 2 * 48000 // 44100 if format == "opus" else len(source) // 2
                # ffmpeg 5.1 leaves the last AAC frame whole, whatever the file says of its end.
                more = 1023 if format == "m4a" else 0
                check(length <= len(raw) // 2 <= length + more, f"{path.name} has {len(raw) // 2} samples, not {length}")
                if format == "m4a":
                    equal(probe(path)["streams"][0]["duration_ts"], length, f"length that {path.name} tells")
            right[key] = True
    equal(len(os.listdir(service.outputs)), count, "files in the output root")
    equal(service.staged(), [], "staged files")
    service.check_keys()

    ends = collections.Counter()
    for _, parts in service.redis("XRANGE", PREFIX + "events", "-", "+"):
        event = dict(zip(parts[::2], parts[1::2]))
        if event.get("state") == "completed":
            ends[event.get("id") or event.get("job")] += 1
    equal(ends, collections.Counter(ids), "completed events by id")
    crashes = sum(record["crashes"] for record in records.values())
    check(crashes >= 1, f"only {crashes} crashes were counted")
    for worker in workers:
        worker.send(signal.SIGTERM)
    for worker in workers:
        worker.wait()
    figures(f"{count} completed, {count} right files ({len(right)} distinct ones decoded), nothing staged, no lease; killed "
            + ", ".join(f"{count} {name}" for name, count in sorted(killed.items())) + f"; {crashes} crashes counted")
