"""The example of each language pushes a job and follows it to its end, also when its connection is cut and events are lost."""

import os
import signal
import socket
import subprocess
import threading
import time

import pytest
from service import PREFIX, ROOT, Process, check, equal, run, until

# What starts each, and what must succeed for it to run here.
LANGUAGES = {
    "Python": (["/usr/bin/python3", "respool.py"], ["/usr/bin/python3", "-c", "import redis"]),
    "Node.js": (["node", "respool.js"], ["node", "-e", "require('redis')"]),
    "Ruby": (["ruby", "respool.rb"], ["ruby", "-e", "require 'redis'"]),
    "Go": (["go", "respool.go"], ["go", "version"]),
    "Python with the client": (["/usr/bin/python3", "clients/convert.py"], ["/usr/bin/python3", "-c", "import redis, respool"]),
    "shell": (["bash", "respool.sh"], ["redis-cli", "--version"]),
}
# Debian's packages of Go are found as before there were modules; what is compiled is kept from one run of `go` to the next.
ENVIRONMENT = {**os.environ, "NODE_PATH": "/usr/share/nodejs",
               "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "PYTHONPATH": f"{ROOT}/clients/python/src", "PYTHONDONTWRITEBYTECODE": "1"}


def runs(words):
    try:
        return subprocess.run(words, env=ENVIRONMENT, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Cutter:
    """Passes bytes to the server and back; once events are told of a job that completed, cuts what asks next, and all for a second."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.cuts = 0
        self.is_told = False
        self.until = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.upstream))
            except OSError:
                return
            link = {"sockets": (client, server), "asked": b""}
            threading.Thread(target=self.pump, args=(client, server, link, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, link, False), daemon=True).start()

    def pump(self, source, target, link, is_client):
        try:
            while data := source.recv(65536):
                if is_client:
                    if self.is_told and (not self.until or time.monotonic() < self.until):
                        self.until = self.until or time.monotonic() + 1
                        self.cuts += 1
                        break
                    link["asked"] = data.upper()
                elif b"XREAD\r" in link["asked"] and b"completed" in data:
                    self.is_told = True
                target.sendall(data)
        except OSError:
            pass
        for end in link["sockets"]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Example:
    """One language's program against the queue."""

    def __init__(self, service, words):
        self.service = service
        self.words = [*words[:-1], f"{ROOT}/examples/{words[-1]}"]
        if words[0] == "go":
            program = f"{service.folder}/respool-go"
            run("go", "build", "-o", program, self.words[-1], environment=ENVIRONMENT)
            self.words = [program]
        self.number = 0
        self.environment = {**ENVIRONMENT, "RESPOOL_REDIS_URL": f"redis://127.0.0.1:{service.redis.port}"}

    def push(self, source, format, *fields):
        pairs = [part for field in fields for part in field.split("=", 1)] if "bash" in self.words else fields
        done = subprocess.run([*self.words, "push", source, format, *pairs], env=self.environment, capture_output=True, text=True)
        equal(done.returncode, 0, f"status of `push` ({done.stderr})")
        return done.stdout.strip()

    def watch(self, id, port=None):
        self.number += 1
        port = port or self.service.redis.port
        log = f"{self.service.folder}/{os.path.basename(self.words[-1])}.{self.number}.log"
        environment = {**ENVIRONMENT, "RESPOOL_REDIS_URL": f"redis://follower:secret@127.0.0.1:{port}"}
        return Process([*self.words, "watch", id], log, environment)

    def cut(self, *watchers):
        """Stops watchers that wait for events, and cuts their connections."""
        def waiting():
            lines = self.service.redis("CLIENT", "LIST", "TYPE", "normal").splitlines()
            return [line.split()[0].removeprefix("id=") for line in lines if "cmd=xread " in line]
        until("the watchers wait for events", 20, lambda: len(waiting()) == len(watchers))
        for watcher in watchers:
            os.killpg(watcher.pid, signal.SIGSTOP)
        for client in waiting():
            self.service.redis("CLIENT", "KILL", "ID", client)

    def follow(self):
        """A job that runs and ends while the watcher stands still, its connection cut."""
        service = self.service
        service.respool("pause")
        id = self.push(service.source("a.wav"), "flac", "dedup=one", "metadata={\"title\":\"a = b\"}")
        service.wait([id], 10, states=("waiting",))
        again = self.push(service.source("a.wav"), "flac", "dedup=one")
        watchers = [self.watch(id), self.watch(again)]
        self.cut(*watchers)
        service.respool("resume")
        service.completed([id], 30)
        for watcher in watchers:
            os.killpg(watcher.pid, signal.SIGCONT)
        result = f"{service.outputs}/{id}.flac"
        for watcher in watchers:
            equal(watcher.wait(), 0, f"status of `watch` ({watcher.tail()})")
            check(result in watcher.tail(), f"`watch` does not name {result}: {watcher.tail()}")
        lines = watchers[0].tail(50).splitlines()
        states = [event["state"] for event in self.events(id) if event["state"] != "waiting"]
        told = [line.split()[0] for line in lines if line.split()[0] in ("running", "completed")]
        equal(told[:len(states)], states, f"states that `watch` told ({lines})")
        check(any("publishing" in line for line in lines), f"`watch` told no phase: {lines}")

    def lose(self):
        """A connection that is lost between the event of the job's end and the read of the job."""
        service = self.service
        service.respool("pause")
        id = self.push(service.source("a.wav"), "flac")
        service.wait([id], 10, states=("waiting",))
        cutter = Cutter(service.redis.port)
        watcher = self.watch(id, cutter.port)
        def waits():
            lines = service.redis("CLIENT", "LIST", "TYPE", "normal").splitlines()
            return any("cmd=xread " in line and " flags=b" in line for line in lines)
        until("the watcher waits for events", 20, waits)
        # It stands still until the job is over, so that it gets all events at once, and no later one can help it.
        os.killpg(watcher.pid, signal.SIGSTOP)
        until("the watcher's wait is over", 20, lambda: not waits())
        service.respool("resume")
        service.completed([id], 30)
        os.killpg(watcher.pid, signal.SIGCONT)
        equal(watcher.wait(), 0, f"status of `watch` whose read was cut off ({watcher.tail()})")
        check(f"{service.outputs}/{id}.flac" in watcher.tail(), f"`watch` whose read was cut off: {watcher.tail()}")
        check(cutter.cuts > 0, "no read was cut off")
        cutter.listener.close()

    def ask_for_nothing(self):
        """A job that does not exist."""
        watcher = self.watch("1-1")
        equal(watcher.wait(), 1, f"status of `watch` for an unknown job ({watcher.tail()})")
        check("no such job" in watcher.tail(), f"`watch` for an unknown job: {watcher.tail()}")

    def events(self, id):
        entries = self.service.redis("XRANGE", PREFIX + "events", "-", "+")
        events = [dict(zip(fields[::2], fields[1::2])) for _, fields in entries]
        return [event for event in events if event["id"] == id]

    def miss(self):
        """A job that fails, its events gone before the watcher reads on."""
        service = self.service
        service.respool("pause")
        id = self.push(service.source("missing.wav"), "mp3")
        watcher = self.watch(id)
        self.cut(watcher)
        service.respool("resume")
        service.wait([id], 30)
        service.redis("XTRIM", PREFIX + "events", "MAXLEN", 0)
        other, = service.push({"source": service.source("missing.wav"), "format": "mp3"})
        service.wait([other], 30)
        os.killpg(watcher.pid, signal.SIGCONT)
        equal(watcher.wait(), 1, f"status of `watch` for a failed job ({watcher.tail()})")
        check("source_not_found" in watcher.tail(), f"`watch` does not tell the code: {watcher.tail()}")


@pytest.mark.long
@pytest.mark.redis_options(tcp=True)
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_pushes_a_job_and_follows_it_over_faults(service, start_worker, audio, figures, language):
    words, needs = LANGUAGES[language]
    if not runs(needs):
        pytest.skip(f"the client of {language} is not installed")
    text = open(f"{ROOT}/docs/queue.md").read().replace(" \\\n", "")
    account = next(line for line in text.splitlines() if line.startswith("redis-cli ACL SETUSER follower "))
    service.redis(*account.replace("'", "").split()[1:])
    audio("a.wav", 2)
    start_worker(slots=1)
    example = Example(service, words)
    example.follow()
    example.miss()
    example.lose()
    example.ask_for_nothing()
    figures("pushed, followed as the follower of docs/queue.md over cut connections, a duplicate and lost events")
