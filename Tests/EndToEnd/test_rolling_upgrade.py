"""Workers and commands of an earlier release and of this version share a queue, while workers are replaced and rolled back.

`Tools/releases.py` builds the earlier release from its commit; `make proof` calls it.
"""

import collections
import http.server
import json
import pathlib
import re
import select
import signal
import socket
import threading
import time

import pytest
import releases
from api import Client, start_server
from appearances import Appearances
from processes import HANG, free_port
from service import PREFIX, PROGRAMS, Connection, check, equal, run, until

WORKERS = 3
# Seconds that a job takes because of its server.
LENGTHS = (1, 2, 3)
LIMIT = 2
SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"


class PutServer:
    """Takes what is put. While `holds` is set, it answers only when that is cleared; `answered` counts by path."""

    def __init__(self):
        self.holds, self.held, self.answered = threading.Event(), threading.Event(), collections.Counter()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                while outer.holds.is_set():
                    outer.held.set()
                    # Its client is gone.
                    if select.select([self.connection], [], [], 0.05)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                        return
                outer.answered[self.path] += 1
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Version:
    """The programs of one version on the queue of a service."""

    def __init__(self, service, programs):
        self.service, self.program, self.workers = service, str(programs / "respool"), []
        self.name = self("--version").decode().split()[1]
        port = free_port()
        start_server(service, port, f"{service.folder}/serve.{self.name}.log", program=self.program)
        self.client = Client(port)

    def __call__(self, *words):
        return run(self.program, *words, environment=self.service.environment)

    def start(self, count):
        self.service.command = self.program
        self.workers = [self.service.worker(slots=1, allow_hosts="127.0.0.1", allow_output_hosts="127.0.0.1", callback_secret=SECRET,
                                            grace=grace)
                        # The first drains without a grace, and gives its jobs back.
                        for grace in [0] + [20] * (count - 1)]
        for worker in self.workers:
            until("a worker started", 30, lambda: "worker started" in pathlib.Path(worker.log).read_text(errors="replace"))

    def pids(self):
        return {worker.pid for worker in self.workers}


class Upgrade:
    """The load, and the steps of an upgrade."""

    def __init__(self, service, web, audio, versions):
        self.service, self.web, self.versions, self.ids = service, web, versions, []
        for length in LENGTHS:
            audio(f"{length}.wav", length, seed=length)
            web.rules[f"/{length}.wav"] = {"rate": 88_200}
        self.results, self.store = Appearances(service.outputs), PutServer()
        self.versions_by_pid, self.rows, self.own_outputs, self.begin = {}, [], set(), time.monotonic()
        self.most, self.lost, self.called = 0, 0, 0
        threading.Thread(target=self.watch_limit, daemon=True).start()

    def watch_limit(self):
        """Counts the running jobs that are under the limit, whatever the scripts of either version count."""
        connection = Connection(self.service.redis.path)
        try:
            while True:
                ids = connection("ZRANGE", PREFIX + "lease", 0, -1)
                keys = connection.many([["HGET", PREFIX + "job:" + id, "limit_key"] for id in ids]) if ids else []
                self.most = max(self.most, keys.count("host"))
                time.sleep(0.05)
        except OSError:
            pass

    def start(self, version):
        version.start(WORKERS)
        self.versions_by_pid |= {pid: version.name for pid in version.pids()}

    def push(self, count, is_limited=True, **more):
        """Pushes jobs in each way that there is, with the commands and servers of both versions; half of them have a limit."""
        old, new = self.versions
        for number in range(count):
            fields = {"source": f"{self.web.url}/{LENGTHS[number % len(LENGTHS)]}.wav", "format": "wav", "group": "all", **more}
            if is_limited and number % 2:
                fields |= {"limit_key": "host", "callback": f"{self.web.url}/called"}
                self.called += 1
            source, *options = fields.pop("source"), *[word for name, value in fields.items() for word in (f"--{name.replace('_', '-')}", value)]
            way = number % 5
            if way == 0:
                self.ids += self.service.push({"source": source, **fields})
            elif way < 3:
                self.ids += (old, new)[way - 1]("enqueue", source, *options).decode().split()
            else:
                status, answer = (old, new)[way - 3].client("POST", "/v1/jobs", {"source": source, **fields})
                equal(status, 201, f"status of a push ({answer})")
                self.ids.append(answer["id"])

    def running(self):
        """How many jobs each worker has, by its process id."""
        ids = self.service.redis("ZRANGE", PREFIX + "lease", 0, -1)
        names = self.service.redis.many([["HGET", PREFIX + "job:" + id, "worker"] for id in ids]) if ids else []
        return collections.Counter(int(name.split(":")[1]) for name in names)

    def is_running(self, version):
        return any(self.running()[pid] for pid in version.pids())

    def until_running(self, *versions):
        until(f"jobs run in workers of {' and '.join(version.name for version in versions)}", 30,
              lambda: all(map(self.is_running, versions)))

    def kill_while_it_publishes(self, leaving, staying):
        """Kills a worker of one version when it has a commit record and has put its result, so that one of the other version
        has to read the record."""
        worker = leaving.workers[-1]
        redis = self.service.redis
        names = [name for name in redis("ZRANGE", PREFIX + "workers", 0, -1) if int(name.split(":")[1]) in staying.pids()]
        leaving("quiet", *names)
        # They learn it with their next heartbeats, and finish what they have.
        until("the others are quiet", 30, lambda: not self.is_running(staying))
        path = f"/{leaving.name}.wav"
        self.store.held.clear()
        self.store.holds.set()
        id, = self.service.push({"source": f"{self.web.url}/1.wav", "format": "wav", "output": self.store.url + path, "priority": "high", "group": "all"})
        self.ids.append(id)
        self.own_outputs.add(id)
        check(self.store.held.wait(HANG), "the worker put no result")
        equal(self.service.status([id])[id]["phase"], "publishing", "phase of the job whose worker is killed")
        # A slot begins its next job while it publishes.
        worker.send(signal.SIGSTOP)
        self.lost += self.running()[worker.pid]
        worker.kill()
        self.store.holds.clear()
        leaving("quiet", "--off", *names)
        record = self.service.wait([id], 60)[id]
        equal((record["state"], record["attempt"], record["crashes"]), ("completed", 1, 1), "the job whose worker was killed")
        equal(self.versions_by_pid[int(record["worker"].split(":")[1])], staying.name, "version of the worker that completed it")
        equal(self.store.answered[path], 1, "answered requests that put its result")

    def replace(self, leaving, staying):
        """All workers of one version end: one drains without a grace, one with it, one is killed as it publishes."""
        self.push(10)
        self.until_running(leaving, staying)
        drained = leaving.workers[:2]
        for worker in drained:
            # When it has just claimed a job.
            begun = self.claims(worker)
            until("a worker claims a job", 30, lambda: self.claims(worker) > begun or self.keep_busy())
            worker.send(signal.SIGTERM)
        self.push(10)
        for worker in drained:
            equal(worker.wait(), 0, "exit status of a worker that drained")
        self.kill_while_it_publishes(leaving, staying)
        leaving.workers = []

    def keep_busy(self):
        """Pushes jobs without a limit if hardly more are left than there are workers."""
        if self.service.redis("SCARD", PREFIX + "live") + self.service.redis("XLEN", PREFIX + "in") < 3 * WORKERS:
            self.push(5, is_limited=False)

    def claims(self, worker):
        """How many jobs had the worker as their last."""
        return sum(int(name.split(":")[1]) == worker.pid for name in self.service.redis.many(
            [["HGET", PREFIX + "job:" + id, "worker"] for id in self.ids]) if name)

    def run_schedule(self):
        for version in self.versions:
            self.ids += version("schedule", "run", "yearly").decode().split()[:1]

    def row(self, what):
        """Ends a step, in which workers complete what has been pushed until few jobs wait."""
        until("few jobs wait", 60, lambda: self.service.redis("SCARD", PREFIX + "live") <= WORKERS)
        counts = self.service.redis("ZCARD", PREFIX + "done")
        self.rows.append((what, len(self.ids), counts, time.monotonic() - self.begin))


def promised(version):
    """The names of what docs/stability.md calls stable, as the programs of a version give them."""
    document = version.client("GET", "/v1/openapi.json")[1]
    names = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in ("get", "put", "post", "patch", "delete", "head"):
                parameters = [*operations.get("parameters", []), *operation.get("parameters", [])]
                names |= {f"{method} {path}", *(f"{method} {path} parameter {one.get('name', one.get('$ref'))}" for one in parameters)}
                names |= {f"{method} {path} status {status}" for status in operation["responses"]}
    for name, schema in document["components"]["schemas"].items():
        names |= set(members(schema, f"schema {name}"))
    for line in version("settings", "--markdown").decode().splitlines():
        names |= {f"setting {name}" for name in re.findall(r"RESPOOL_\w+", line.split("|")[1])[:1]}
    commands = re.findall(r"(?m)^  ([a-z]+)  ", version("--help").decode())
    for command in commands:
        names |= {f"command {command}", *(f"{command} {option}" for option in re.findall(r"--[a-z][a-z-]+", version(command, "--help").decode()))}
    names |= {f"format {json.loads(line)['format']}" for line in version("formats", "--json").decode().splitlines()}
    names |= {f"metric {words}" for words in re.findall(r"(?m)^# TYPE (respool_.*)$", version.client.text("/metrics"))}
    return names


def members(schema, path):
    """The properties and the values of a schema, with their paths."""
    for name, value in schema.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from members(value, f"{path}.{name}")
    yield from (f"{path} = {value}" for value in schema.get("enum", []) if value is not None)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from members(schema[key], f"{path}[]")
    for key in ("anyOf", "oneOf", "allOf"):
        for value in schema.get(key, []):
            yield from members(value, path)


def runs(service):
    """How often each job began to run, was given back, and was completed, from the events of the queue."""
    begun, given_back, completed = collections.Counter(), collections.Counter(), collections.Counter()
    running = set()
    for _, parts in service.redis("XRANGE", PREFIX + "events", "-", "+"):
        event = dict(zip(parts[::2], parts[1::2]))
        id = event["id"]
        if event["state"] == "running" and "attempt" in event:
            begun[id] += 1
            running.add(id)
        elif event["state"] == "waiting" and id in running:
            given_back[id] += 1
        elif event["state"] == "completed":
            completed[id] += 1
        if event["state"] != "running":
            running.discard(id)
    return begun, given_back, completed


@pytest.fixture(params=releases.listed())
def versions(request, service):
    """An earlier release and this version, on one queue."""
    try:
        earlier = releases.programs(request.param)
    except releases.Unavailable as reason:
        pytest.skip(str(reason))
    old, new = Version(service, earlier), Version(service, PROGRAMS)
    equal(old.name, request.param, "version of the release's programs")
    check(new.name != old.name, f"both versions are {new.name}")
    return old, new


@pytest.mark.long
# Building a release takes minutes, where `make proof` has not done it.
@pytest.mark.timeout(1800)
def test_what_a_release_promises_is_there_in_this_version(versions, figures):
    old, new = map(promised, versions)
    equal(sorted(old - new), [], f"names of {versions[0].name} that are missing")
    kinds = collections.Counter(name.split(" ")[0] for name in old)
    check(all(kinds[kind] >= 10 for kind in ("get", "schema", "setting", "command", "format", "metric")), f"names that were found: {kinds}")
    figures(f"all {len(old)} names of {versions[0].name} are there, and {len(new - old)} new ones")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_workers_of_a_release_are_replaced_by_those_of_this_version_and_back(service, versions, web, audio, figures):
    old, new = versions
    upgrade = Upgrade(service, web, audio, versions)
    old("limit", "host", LIMIT)
    old("schedule", "add", "yearly", "@yearly", "--source", f"{web.url}/1.wav", "--to", "wav", "--group", "all")

    upgrade.start(old)
    # A job that fails under one version and is tried again under the other, and one that becomes due then.
    web.rules["/refused.wav"] = {"status": 503}
    audio("refused.wav", 1)
    refused, = service.push({"source": f"{web.url}/refused.wav", "format": "wav", "attempts": "20", "group": "all"})
    upgrade.ids.append(refused)
    upgrade.push(10)
    until("an attempt failed", 30, lambda: service.status([refused])[refused]["state"] == "delayed")
    upgrade.row(f"{old.name} alone")
    upgrade.push(2, delay="8")

    upgrade.start(new)
    upgrade.replace(old, new)
    web.rules.pop("/refused.wav")
    upgrade.row(f"{old.name} to {new.name}")
    upgrade.push(10)
    upgrade.row(f"{new.name} alone")
    upgrade.push(2, delay="8")
    upgrade.run_schedule()

    upgrade.start(old)
    upgrade.replace(new, old)
    upgrade.row(f"{new.name} back to {old.name}")
    upgrade.start(new)
    upgrade.push(10)
    upgrade.run_schedule()
    new("seal", "all")
    records = service.completed(upgrade.ids, 120)
    upgrade.row("both")

    begun, given_back, completed = runs(service)
    ids = upgrade.ids
    equal(completed, collections.Counter(ids), "completed events by id")
    files = [id for id in ids if id not in upgrade.own_outputs]
    until("every result appeared", 5, lambda: all(upgrade.results.counts[f"{id}.wav"] for id in files))
    equal({id: count for id, count in upgrade.results.counts.items() if count != 1}, {}, "results that appeared more than once")
    # Neither a run that was given back nor one whose worker was lost counts as an attempt.
    for id in ids:
        record = records[id]
        equal(record["attempt"], begun[id] - given_back[id], f"attempts of {id}, which ran {begun[id]} times and came back {given_back[id]} times")
        if id != refused:
            equal(record["attempt"], 1, f"attempts of {id}")
    crashes = sum(record["crashes"] for record in records.values())
    equal(crashes, upgrade.lost, "crashes, and jobs of the two workers that were killed")
    check(given_back.total() > crashes, "no drain gave back a job, so this shows less than it should")
    check(records[refused]["attempt"] > 1, "the job that was refused had one attempt")
    equal(upgrade.most, LIMIT, "most jobs that ran at once under the limit")

    until("every callback came", 20, lambda: len(dict(web.posts)) == upgrade.called)
    # Both versions read the same.
    for words in (("status", "--json", *ids), ("status", "--group", "all", "--json")):
        lines = [[json.loads(line) for line in version(*words).splitlines()] for version in (old, new)]
        for before, after in zip(*lines, strict=True):
            equal({name: after.get(name) for name in before}, before, f"what {new.name} prints, for the names that {old.name} prints")
    group = json.loads(new("status", "--group", "all", "--json"))
    equal((group["total"], group["completed"], group["sealed"]), (len(ids), len(ids), True), "the group")
    versions = collections.Counter(upgrade.versions_by_pid[int(record["worker"].split(":")[1])] for record in records.values())
    check(min(versions[old.name], versions[new.name]) >= 15, f"jobs by version: {versions}")
    new("doctor")
    service.check_keys()
    lines = [f"{what:24} {pushed:4} pushed {done:4} completed, after {seconds:5.1f} s" for what, pushed, done, seconds in upgrade.rows]
    figures("\n  " + "\n  ".join(lines) + f"\n  {len(ids)} jobs completed once, " + ", ".join(f"{count} by {name}" for name, count in sorted(versions.items()))
            + f"; {sum(record['attempt'] for record in records.values())} attempts, of which {records[refused]['attempt']} of a job that was refused; "
            f"{begun.total()} runs, {given_back.total() - crashes} given back by drains, {crashes} lost with killed workers; {upgrade.called} callbacks")
