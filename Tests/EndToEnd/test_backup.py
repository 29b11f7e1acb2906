"""A copy of Redis is made while jobs run, and restored later: what was pushed before the copy ends, what had ended is not repeated.

The steps are those of docs/how-to/backup.md.
"""

import os
import pathlib
import shutil

import pytest
from sound import sha256
from service import PREFIX, check, equal, run, until

COUNT = 40


def rewrites_nothing(redis):
    """Whether no rewrite of the append-only file runs, or waits to."""
    state = redis("INFO", "persistence")
    return "aof_rewrite_in_progress:0" in state and "aof_rewrite_scheduled:0" in state


class Snapshot:
    """A copy of an RDB file, as `redis-cli --rdb` writes it from any machine."""

    def __init__(self, redis):
        self.redis = redis
        self.file = f"{redis.folder}/copy.rdb"

    def take(self):
        run("redis-cli", "-s", self.redis.path, "--rdb", self.file)

    def restore(self):
        """A server with an append-only file ignores an RDB file: it starts without one, and writes a new one then."""
        shutil.rmtree(f"{self.redis.folder}/appendonlydir")
        shutil.copy(self.file, f"{self.redis.folder}/dump.rdb")
        options = self.redis.options
        self.redis.options = ("--appendonly", "no", "--appendfsync", "always")
        self.redis.start()
        self.redis.options = options
        self.redis("CONFIG", "SET", "appendonly", "yes")
        until("the append-only file is written", 20, lambda: rewrites_nothing(self.redis))


class AppendOnlyFolder:
    """A copy of the folder of the append-only file, which is not rewritten meanwhile."""

    def __init__(self, redis):
        self.redis = redis
        self.folder = f"{redis.folder}/copy"

    def take(self):
        _, percentage = self.redis("CONFIG", "GET", "auto-aof-rewrite-percentage")
        self.redis("CONFIG", "SET", "auto-aof-rewrite-percentage", "0")
        until("no rewrite runs", 20, lambda: rewrites_nothing(self.redis))
        shutil.copytree(f"{self.redis.folder}/appendonlydir", self.folder)
        self.redis("CONFIG", "SET", "auto-aof-rewrite-percentage", percentage)

    def restore(self):
        shutil.rmtree(f"{self.redis.folder}/appendonlydir")
        shutil.copytree(self.folder, f"{self.redis.folder}/appendonlydir")
        self.redis.start()


def ended(redis):
    return set(redis("ZRANGE", PREFIX + "done", 0, -1))


@pytest.mark.long
@pytest.mark.redis_options("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")
@pytest.mark.parametrize(("kind", "workers_stop"), [(Snapshot, False), (AppendOnlyFolder, True)], ids=["rdb, workers run on", "aof, workers stop"])
def test_what_was_pushed_before_a_copy_of_redis_ends_after_its_restoration(
        service, start_worker, audio, figures, kind, workers_stop):
    audio("a.flac", 30)
    job = {"source": service.source("a.flac"), "format": "mp3"}
    worker = start_worker(slots=2)
    ids = service.push(*[job] * COUNT)
    copy = kind(service.redis)
    until("a quarter of the jobs completed", 120, lambda: len(ended(service.redis)) >= COUNT // 4, 0.01)
    before = ended(service.redis)
    copy.take()
    lost = service.push(*[job] * 5)
    until("jobs complete after the copy", 120, lambda: len(ended(service.redis)) >= COUNT // 2, 0.01)
    after = ended(service.redis)
    check(len(after) < COUNT, "Redis was to be lost in the middle of the jobs")

    service.redis.kill()
    if workers_stop:
        # Without Redis a worker cannot give its jobs back: they run until the grace period is over.
        worker.kill()
    files = {path.name: path.stat().st_ino for path in pathlib.Path(service.outputs).glob("*.mp3")}
    copy.restore()
    found = ended(service.redis)
    check(before <= found <= after, f"the copy has {len(found)} completed jobs, of {len(before)} to {len(after)}")
    if workers_stop:
        worker = start_worker(slots=2)
    records = service.completed(ids, 120)

    for id in ids:
        equal(sha256(f"{service.outputs}/{id}.mp3"), records[id]["outputs"][0]["sha256"], f"sum of {id}")
    unchanged = {id for id in ids if files.get(f"{id}.mp3") == os.stat(f"{service.outputs}/{id}.mp3").st_ino}
    check(found <= unchanged, f"{len(found - unchanged)} jobs that had ended in the copy ran again")
    for id in lost:
        equal(service.redis("EXISTS", f"{PREFIX}job:{id}"), 0, f"record of {id}, which was pushed after the copy")
    crashes = sum(record["crashes"] for record in records.values())
    # Two slots convert two jobs, and publish two others.
    check(crashes <= 4, f"{crashes} crashes charged, and at most 4 jobs ran")
    check(worker.is_running, "the worker ended")
    equal(service.staged(), [], "staged files")
    service.check_keys()
    # Its status is 1 if it finds anything; a warning does not change it.
    service.respool("doctor")
    # New jobs have new ids, and run.
    again = service.push(*[job] * len(lost))
    check(not set(again) & {*ids, *lost}, "an id was given twice")
    service.completed(again, 60)
    repeated = [id for id in ids if f"{id}.mp3" in files and id not in unchanged]
    figures(f"{len(found)} of {COUNT} jobs had ended in the copy and {len(after)} before the loss; {len(repeated)} ran again, "
            f"{crashes} crashes charged, {len(lost)} that were pushed after the copy are lost")
