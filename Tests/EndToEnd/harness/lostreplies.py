"""Loses one reply of each script, of workers and of commands, and checks that no script is missing."""

import json
import signal
import time
import urllib.error
import urllib.request

from processes import HANG, free_port
from proxy import NAMES, Proxy
from service import PREFIX, RESPOOL, Process, check, equal, until

LONG = "/long.wav"


def scripts():
    """The names of all scripts."""
    return set(NAMES.values())


class LostReplies:
    """Loses replies, and checks that a repeated call has the same effect as one call."""

    def __init__(self, fleet, number):
        self.fleet = fleet
        # Each round uses a new group, because a sealed group accepts no jobs.
        self.group = f"g{number}"
        self.schedule = f"s{number}"
        self.service = fleet.service
        self.server = fleet.server
        self.source = self.service.source("a.wav")
        self.names = set()

    def all(self):
        """Loses one reply of each script, and returns the number of scripts."""
        self.of_each_worker("claim", "beat", "publish", "finish")
        self.of_callbacks()
        self.of_commands()
        self.of_the_api()
        self.of_schedules()
        self.of_a_crowd()
        self.of_a_drain()
        self.of_a_recovery()
        equal(self.names, scripts(), "scripts whose reply was lost")
        return len(self.names)

    def of_each_worker(self, *names):
        for name in names:
            for worker in self.fleet.steady:
                check(worker.proxy.trap(name, "reply").wait(HANG), f"no reply of `{name}` to lose")
        self.names.update(names)

    def of_workers(self, name, provoke, again=lambda: None, enough=any):
        """Loses the next reply of a script after an action, for any worker or for all of them."""
        proxies = [worker.proxy for worker in self.fleet.steady]
        traps = [proxy.trap(name, "reply") for proxy in proxies]
        provoke()
        until(f"a reply of `{name}` is lost", 20, lambda: enough(trap.is_set() for trap in traps) or again(), 0.3)
        for proxy in proxies:
            proxy.traps.clear()
        self.names.add(name)

    def command(self, *words, script):
        """Runs a command whose reply is lost. Repeats it if it printed nothing, and returns its output."""
        proxy = Proxy(self.server.path)
        lost = proxy.trap(script, "reply")
        self.names.add(script)
        environment = self.service.environment | {"RESPOOL_REDIS_URL": proxy.url}
        self.service.environment, kept = environment, self.service.environment
        try:
            printed = self.service.respool(*words, statuses=(0, 3))
            check(lost.is_set(), f"`respool {words[0]}` ran no script `{script}`")
            # The repeated command may have nothing left to do, which is status 1.
            return printed or self.service.respool(*words, statuses=(0, 1))
        finally:
            self.service.environment = kept

    def total(self, group):
        return self.server("HGET", PREFIX + "group:" + group, "total")

    def of_callbacks(self):
        url, begin = f"{self.fleet.web.url}/told", time.time()

        def push():
            self.last, = self.service.push({"source": self.source, "format": "wav", "callback": url})

        for name in ("claim_callbacks", "finish_callback"):
            self.of_workers(name, push, push, all)
        self.service.completed([self.last], 20)
        told = lambda: json.loads(self.service.respool("callbacks", "--job", self.last, "--json"))
        until("the callback is delivered", 20, lambda: told()["state"] == "delivered", 0.3)
        equal(len(told()["log"]), 1, "attempts of a callback whose end was reported twice")
        for worker in self.fleet.steady:
            equal(self.fleet.times(worker, begin, "could not be reported"), [], "callbacks that a worker takes for lost")
        self.command("callbacks", "--retry", told()["id"], script="redeliver")

    def of_commands(self):
        self.command("pause", script="pause")
        jobs = self.command("enqueue", self.source, "--format", "wav", "--group", self.group, script="enqueue").decode().split()
        equal(self.total(self.group), "1", "jobs of one enqueue whose reply was lost")
        self.command("cancel", *jobs, script="cancel")
        equal(self.service.status(jobs)[jobs[0]]["state"], "cancelled", "state after a cancel whose reply was lost")
        self.command("retry", *jobs, script="retry")
        equal(self.service.status(jobs)[jobs[0]]["state"], "waiting", "state after a retry whose reply was lost")
        self.command("reschedule", "--priority", "low", *jobs, script="reschedule")
        equal(self.service.status(jobs)[jobs[0]]["priority"], "low", "priority after a change whose reply was lost")
        worker = json.loads(self.service.respool("status", "--json"))["workers"][0]["name"]
        self.command("quiet", worker, script="quiet")
        self.command("quiet", "--off", worker, script="quiet")
        self.command("purge", "--state", "failed", "--yes", script="purge")
        self.server("SET", PREFIX + "result:9-9", "x")
        self.command("doctor", "--repair", script="repair")
        equal(self.server("EXISTS", PREFIX + "result:9-9"), 0, "keys of no job after a repair whose reply was lost")
        self.command("limit", "key", "3", script="limit")
        equal(self.server("HGET", PREFIX + "limits", "key"), "3", "limit whose reply was lost")
        self.server("HDEL", PREFIX + "limits", "key")
        self.command("status", script="stats")
        self.command("jobs", script="list")
        self.command("jobs", "--state", "queued", script="queued")
        self.command("resume", script="pause")
        self.command("seal", self.group, script="admit_and_seal")

    def of_the_api(self):
        """Repeats a push over HTTP until it is answered: the first reply about its key is lost."""
        group = f"{self.group}-api"
        proxy, port = Proxy(self.server.path), free_port()
        environment = self.service.environment | {"RESPOOL_REDIS_URL": proxy.url}
        server = Process([RESPOOL, "serve", "--listen", f"127.0.0.1:{port}"], f"{self.service.folder}/serve.log", environment)
        body = json.dumps({"source": self.source, "format": "wav", "group": group}).encode()

        def status(path, data=None):
            headers = {"Content-Type": "application/json", "Idempotency-Key": group}
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
            try:
                return urllib.request.urlopen(request, timeout=HANG).status
            except urllib.error.HTTPError as error:
                return error.code
            except OSError:
                return None

        until("the server is ready", 20, lambda: status("/readyz") == 200)
        lost = proxy.trap("reply", "reply")
        until("the job is pushed", 40, lambda: status("/v1/jobs", body) == 201, 0.5)
        check(lost.is_set(), "a push with a key ran no script `reply`")
        until("the job is admitted", 20, lambda: self.total(group) == "1")
        equal(status("/v1/jobs", body), 201, "the same push again")
        server.send(signal.SIGTERM)
        equal(server.wait(), 0, "status of a server that stops")
        equal(self.total(group), "1", "jobs of one push that was repeated")
        self.names.add("reply")

    def of_schedules(self):
        self.command("schedule", "add", self.schedule, "@yearly", "--source", self.source, "--to", "wav", "--group", self.schedule,
                     script="schedule")
        self.of_workers("schedule", lambda: self.server("ZADD", PREFIX + "schedules", 1000, self.schedule))
        until("the occurrence has its job", 10, lambda: self.total(self.schedule) == "1")
        self.command("schedule", "run", self.schedule, script="schedule")
        equal(self.total(self.schedule), "2", "jobs of a schedule that was due once and run once, both replies lost")
        self.service.respool("schedule", "remove", self.schedule)

    def of_a_recovery(self):
        """Tests recovery by the next owner of a job whose worker was killed before it published the result."""
        victim = self.fleet.worker(slots=1)
        until("a victim has done a job", 30, lambda: victim.proxy.seen.get("finish"))
        killed = victim.proxy.trap("publish", "reply", lambda: self.fleet.kill(victim))
        self.of_workers("recover", lambda: check(killed.wait(HANG), "no reply of `publish` at which a worker could be killed"))

    def of_a_crowd(self):
        """Tests workers without a free slot, which do not claim, while more is pushed than one heartbeat admits."""
        slow = {"source": self.fleet.web.url + LONG, "format": "wav", "priority": "high"}
        long = self.service.push(*[slow] * 4)
        self.service.wait(long, 20, states=("running",))
        few = {"source": self.source, "format": "wav", "priority": "low"}
        self.of_workers("admit", lambda: self.service.push(*[few] * 150))
        self.service.respool("cancel", *long)
        self.service.wait(long, 20)

    def of_a_drain(self):
        """Tests that a draining worker rings the doorbell for other workers."""
        worker = self.fleet.worker()
        until("it works", 20, lambda: worker.proxy.seen.get("beat"))
        lost = worker.proxy.trap("ring", "reply")
        worker.send(signal.SIGTERM)
        equal(worker.wait(), 0, "status of a worker that stops")
        check(lost.is_set(), "a worker that stopped did not ring")
        self.names.add("ring")
