"""A private installation of respool: Redis, workers, jobs pushed with XADD, and states read with `respool status`."""

import atexit
import collections
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

# Tests also import these names from this module.
from processes import HANG, Failed, Process, check, children, equal, run, until
from redisserver import Connection, Redis

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / ".build/release")).resolve()
RESPOOL = str(PROGRAMS / "respool")
PREFIX = "respool:{default}:"
TERMINAL = ("completed", "failed", "cancelled")
# Encoders of all jobs and conversions that do not say how many; `make proof THREADS=4`.
THREADS = os.environ.get("THREADS")


class Service:
    """A private installation: sources, outputs, a spool, a Redis, and the workers that are started; `clear` removes it."""

    def __init__(self, *redis_options, port=0):
        self.folder = tempfile.mkdtemp(prefix="respool-test.")
        atexit.register(self.clear)
        for name in ("sources", "outputs", "spool"):
            setattr(self, name, f"{self.folder}/{name}")
            os.mkdir(getattr(self, name))
        self.workers = []
        self.command = RESPOOL
        self.redis = Redis(self.folder, *redis_options, port=port)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RESPOOL_", "OTEL_"))},
            # Requests for S3 keys would go to an address outside this machine.
            "AWS_EC2_METADATA_DISABLED": "true",
            "RESPOOL_REDIS_URL": self.redis.url, "RESPOOL_SOURCE_ROOTS": self.sources,
            "RESPOOL_OUTPUT_ROOT": self.outputs, "RESPOOL_SPOOL_DIR": self.spool,
        }

    def __enter__(self):
        # A signal ends the program with an exception, so that no process is left running.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(130))
        return self

    def __exit__(self, *_):
        self.clear()

    def clear(self):
        for process in Process.living:
            process.clear()
        Process.living.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def worker(self, *words, environment={}, **settings):
        """Starts a worker; the settings are RESPOOL_* variables without the prefix, in lowercase."""
        environment = self.environment | environment | {f"RESPOOL_{name.upper()}": str(value) for name, value in settings.items()}
        worker = Process([self.command, "worker", *words], f"{self.folder}/worker.{len(self.workers)}.log", environment)
        self.workers.append(worker)
        return worker

    def respool(self, *words, statuses=(0,), seconds=HANG):
        if THREADS and words[0] == "convert":
            words = (*words, "--threads", THREADS)
        return run(RESPOOL, *words, environment=self.environment, statuses=statuses, seconds=seconds)

    def source(self, name):
        return f"file://{self.sources}/{name}"

    def push(self, *jobs):
        """Pushes jobs with XADD and returns their ids."""
        jobs = [({"threads": THREADS} if THREADS else {}) | job for job in jobs]
        commands = [["XADD", PREFIX + "in", "*", *(part for pair in job.items() for part in pair)] for job in jobs]
        return self.redis.many(commands)

    def status(self, ids):
        """The records that `respool status --json` prints, by job id."""
        records = {}
        for first in range(0, len(ids), 500):
            text = self.respool("status", "--json", *ids[first:first + 500], statuses=(0, 1))
            records |= {record["id"]: record for record in map(json.loads, text.splitlines())}
        return records

    def wait(self, ids, seconds, states=TERMINAL, pause=0.05):
        """Waits until every job is in one of the states, and returns their records. It gives up as `until` does."""
        seconds = max(seconds, HANG)
        records = {}
        left = list(ids)
        end = time.monotonic() + seconds
        while left:
            found = self.status(left)
            records |= {name: record for name, record in found.items() if record["state"] in states}
            left = [name for name in left if name not in records]
            if left and time.monotonic() > end:
                record = found.get(left[0])
                raise Failed(f"after {seconds} s {len(left)} of {len(ids)} jobs are not {'/'.join(states)}; one: {record}")
            if left:
                time.sleep(pause)
        return records

    def completed(self, ids, seconds):
        """Waits until every job has ended, and expects all of them to be completed."""
        records = self.wait(ids, seconds)
        for name in ids:
            equal(records[name]["state"], "completed", f"state of {name} ({records[name]['error']})")
        return records

    def state(self):
        """What the queue holds: its keys, the jobs by state, and the records of those that did not complete."""
        try:
            redis = Connection(self.redis.path)
            keys = redis("KEYS", "*")
            kinds = collections.Counter(":".join(key.split(":")[:3]) for key in keys)
            ids = [key.removeprefix(PREFIX + "job:") for key in keys if key.startswith(PREFIX + "job:")]
            values = redis.many([("HGETALL", f"{PREFIX}job:{id}") for id in ids])
            indexes = redis.many([("ZCARD", PREFIX + name) for name in ("ready", "delayed", "lease")])
            inbox = redis("XLEN", PREFIX + "in") if PREFIX + "in" in keys else 0
        except (OSError, RuntimeError) as error:
            return f"Redis: {error}"
        records = {id: dict(zip(fields[::2], fields[1::2])) for id, fields in zip(ids, values)}
        states = collections.Counter(record.get("state") for record in records.values())
        left = [id for id, record in records.items() if record.get("state") != "completed"]
        lines = [f"jobs: {dict(states)}; inbox {inbox}, ready {indexes[0]}, delayed {indexes[1]}, lease {indexes[2]}", f"keys: {dict(kinds)}"]
        for id in left[:20]:
            log = redis("GET", f"{PREFIX}log:{id}")
            lines += [f"{id} {records[id]}"[:1000], *([f"log of {id}: {log[-1000:]}"] if log else [])]
        return "\n".join(lines + ([f"and {len(left) - 20} more"] if len(left) > 20 else []))

    def staged(self):
        """Names in the outputs and the spool that are not results."""
        return [str(path) for folder in (self.outputs, self.spool) for path in pathlib.Path(folder).rglob("*")
                if folder == self.spool or path.name.startswith(".")]

    def check_keys(self):
        """Checks that the queue's keys are consistent when no job is left to run."""
        for name in ("ready", "delayed", "lease"):
            equal(self.redis("ZCARD", PREFIX + name), 0, f"members of {name}")
        equal(self.redis("SCARD", PREFIX + "live"), 0, "members of live")
        equal(self.redis("XLEN", PREFIX + "in"), 0, "entries of the inbox")
        members = {state: set(self.redis("ZRANGE", PREFIX + name, 0, -1))
                   for state, name in (("completed", "done"), ("failed", "failed"), ("cancelled", "cancelled"))}
        hashes = {key.removeprefix(PREFIX + "job:") for key in self.redis("KEYS", PREFIX.replace("{", "\\{") + "job:*")}
        equal(hashes, set().union(*members.values()), "ids with a hash and ids in an index")
        for state, ids in members.items():
            for name in ids:
                equal(self.redis("HGET", PREFIX + "job:" + name, "state"), state, f"state in the hash of {name}")
        for kind, owners in (("spec", hashes), ("result", members["completed"])):
            found = {key.split(":", 3)[3] for key in self.redis("KEYS", f"{PREFIX}{kind}:*")}
            equal(found, owners, f"ids with a {kind}")
        for kind in ("commit", "dedup"):
            equal(self.redis("KEYS", f"{PREFIX}{kind}:*"), [], f"keys of {kind}")
