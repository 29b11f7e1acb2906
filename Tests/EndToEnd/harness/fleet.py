"""Workers that continue through faults, each behind a separate proxy, and the jobs that are pushed meanwhile."""

import datetime
import json
import pathlib
import time

from appearances import Appearances
from producer import Producer
from proxy import Proxy
from sound import decode, melody, sha256, write
from service import HANG, PREFIX, ROOT, Connection, check, equal, run, until
from web import Server

# The limits that the design guarantees, in seconds. A heartbeat each second fails after 2 s. A worker pauses for at most a second after a
# failure, and so does its connection. A lease ends 10 s after the last heartbeat, and is found within a second.
NOTICED, WORKS, LEASE, REAPED = 3, 2, 10, 1
# How many times as long a busy machine may take until a test takes it for a hang.
HANGS = 10
SECRET = "whsec_" + "AAAA" * 8
DAY = 86_400


class Fleet:
    """Two steady workers, one of them with its clock a day ahead, and others that start and stop."""

    def __init__(self, service):
        self.service = service
        self.server = service.redis
        self.sound = melody(0.1)
        write(f"{service.sources}/a.wav", self.sound)
        write(f"{service.sources}/long.wav", melody(20))
        self.clock = f"{service.folder}/clock.so"
        run("clang", "-O1", "-Wall", "-Werror", "-fPIC", "-shared", "-o", self.clock, ROOT / "Tests/Preloads/clock.c")
        self.web = Server(service.sources)
        self.web.rules["/long.wav"] = {"rate": 60_000}
        self.results = Appearances(service.outputs)
        self.steady = [self.worker(), self.worker(ahead=DAY)]
        self.producer = Producer(self.server.path, ("source", service.source("a.wav"), "format", "wav"))
        self.kills = []
        until("jobs are done", 30, lambda: self.done() > 5)

    def worker(self, slots=2, ahead=0):
        proxy = Proxy(self.server.path)
        worker = self.service.worker(
            environment={"LD_PRELOAD": self.clock, "CLOCK_AHEAD": str(ahead)} if ahead else {}, redis_url=proxy.url, slots=slots, allow_hosts="127.0.0.1", allow_output_hosts="127.0.0.1", log="info",
            callback_secret=SECRET)
        worker.proxy = proxy
        worker.ahead = ahead
        return worker

    def done(self):
        return self.server("ZCARD", PREFIX + "done")

    def holder(self, id):
        """The steady worker that runs a job."""
        name = self.server("HGET", PREFIX + "job:" + id, "worker")
        return next(worker for worker in self.steady if f":{worker.pid}:" in name)

    def kill(self, worker):
        """Kills a worker, and records the time, and of the jobs that it held when their leases end."""
        worker.kill()
        moment = time.time()
        connection = Connection(self.server.path)
        leases = connection("ZRANGE", PREFIX + "lease", 0, -1, "WITHSCORES")
        ends = dict(zip(leases[::2], (float(end) / 1000 for end in leases[1::2])))
        owners = connection.many([("HGET", PREFIX + "job:" + id, "worker") for id in ends])
        connection.drop()
        self.kills.append((moment, {id: end for (id, end), owner in zip(ends.items(), owners) if f":{worker.pid}:" in owner}))

    def takeovers(self):
        """Waits until every job that a killed worker held runs again, and returns how long each took."""
        times, late = [], []

        def all_found():
            times.clear(), late.clear()
            for moment, held in self.kills:
                again = {}
                for stamp, parts in self.server("XRANGE", PREFIX + "events", int(moment * 1000), "+"):
                    event = dict(zip(parts[::2], parts[1::2]))
                    if event["state"] == "running" and "attempt" in event:
                        again.setdefault(event["id"], int(stamp.split("-")[0]) / 1000)
                if not held.keys() <= again.keys():
                    return False
                times.extend(again[id] - moment for id in held)
                late.extend(again[id] - end for id, end in held.items())
            return True

        until("every job of a killed worker runs again", LEASE + HANGS * REAPED, all_found)
        left = max(end - moment for moment, held in self.kills for end in held.values())
        self.kills.clear()
        print(f"  leases ended {left:.2f} s after a kill, jobs ran again {max(late):.2f} s after that", flush=True)
        check(left <= LEASE, f"the lease of a killed worker ends only {left:.1f} s after its death")
        return times

    def outage(self, name, begin, end, seconds):
        """Starts, holds and ends a fault, which may end by itself if it is held for no time. Workers notice it, and work again after its end; prints how soon."""
        start = time.time()
        begin()
        if seconds:
            until(f"a worker notices: {name}", HANGS * NOTICED, lambda: any(self.times(worker, start, "retrying") for worker in self.steady))
        time.sleep(max(0, start + seconds - time.time()))
        end()
        back = time.time()
        noticed, works = [], []
        for worker in self.steady:
            losses = self.times(worker, start, "retrying")
            if losses:
                noticed.append(losses[0] - start)
                until(f"a worker works again after: {name}", HANGS * WORKS, lambda: self.times(worker, losses[-1], "reachable again"), 0.02)
                works.append(max(0, self.times(worker, losses[-1], "reachable again")[-1] - back))
        done = self.done()
        until(f"jobs are done after: {name}", 20, lambda: self.done() > done)
        # A connection that was cut while it was idle is replaced without being noticed.
        noticed, works = max(noticed, default=0), max(works, default=0)
        print(f"  {name}: noticed after {noticed:.2f} s, worked again {works:.2f} s after its end", flush=True)

    def times(self, worker, since, words):
        """The times at which a worker logged a line with these words."""
        found = []
        for line in pathlib.Path(worker.log).read_text(errors="replace").splitlines():
            if words in line:
                moment = datetime.datetime.fromisoformat(json.loads(line)["time"]).timestamp() - worker.ahead
                if moment >= since:
                    found.append(moment)
        return found

    def flow(self, does):
        for worker in self.steady:
            (worker.proxy.flows.set if does else worker.proxy.flows.clear)()

    def totals(self, forgotten=frozenset(), undone=frozenset()):
        """Stops pushing, waits for the last job, and returns how many jobs were pushed, finished, published twice or
        lost.

        `forgotten` and `undone` are the jobs whose push or end Redis lost.
        """
        self.producer.end()
        pushed = [id for id in self.producer.acknowledged if id not in forgotten]
        records = self.service.completed(pushed, 60)
        counts = self.results.counts
        until("every result appeared", 5, lambda: all(counts[f"{id}.wav"] for id in pushed))
        twice = [id for id in pushed if counts[f"{id}.wav"] > 1 and id not in undone]
        right = sha256(f"{self.service.outputs}/{pushed[0]}.wav")
        lost = [id for id in pushed if sha256(f"{self.service.outputs}/{id}.wav") != right]
        equal(decode(f"{self.service.outputs}/{pushed[0]}.wav"), self.sound, "samples of a result")
        equal((twice, lost), ([], []), "results that appeared twice, results lost")
        until("nothing is left to run", 30, lambda: self.server("SCARD", PREFIX + "live") == 0)
        until("no callback is left to send", 30, lambda: self.server("ZCARD", PREFIX + "callbacks") == 0)
        posts, told = len(self.web.posts), len({id for id, _ in self.web.posts})
        check(all(abs(off) < HANG for _, off in self.web.posts), f"time stamps of callbacks are off: {self.web.posts}")
        # A worker that is killed before it requests publication leaves a staged file that the queue has no record of.
        self.worker()
        until("the next worker to start has swept up", 20, lambda: not self.service.staged())
        self.service.check_keys()
        self.service.respool("doctor")
        return (f"{len(self.producer.acknowledged)} jobs pushed, {len(records)} finished, 0 results twice, 0 lost, "
                f"{told} callbacks told ({posts - told} of them again)")
