"""Follows many jobs over HTTP, each by an event stream of its own, and sends requests at a steady rate, from one process.

`listeners.py PORT RATE FILE` reads ids, one a line, prints `ready` when all streams are open, and runs until its input ends and each
job has ended, or HANG seconds more. Then it prints what it has seen as JSON. `Listeners` runs it.
"""

import collections
import json
import pathlib
import resource
import select
import socket
import subprocess
import sys
import time

from processes import HANG

ENDS = ("completed", "failed", "cancelled")
# Connections that wait for the first event of their stream: less than a server takes from one address.
OPENING = 8
# Connections that send requests, one after another.
REQUESTERS = 8


class Listeners:
    """The process; `stop` ends it and returns what it has seen."""

    def __init__(self, port, ids, rate, folder):
        path = pathlib.Path(folder) / "listeners"
        path.write_text("\n".join(ids))
        self.popen = subprocess.Popen(
            [sys.executable, "-B", __file__, str(port), str(rate), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.popen.stdout.readline() != "ready\n":
            raise AssertionError(f"the listeners ended with {self.popen.wait()}")

    def stop(self):
        return json.loads(self.popen.communicate(timeout=2 * HANG)[0])


class Stream:
    """One event stream. Only the state of the last event of the job is kept."""

    def __init__(self, port, id):
        self.id, self.rest, self.events, self.state, self.is_open = id, b"", 0, None, False
        self.socket = connect(port, f"/v1/events?job={id}")

    def read(self):
        bytes = self.socket.recv(65536)
        if not bytes:
            raise ConnectionError(f"the stream of {self.id} ended: {self.rest!r}")
        *frames, self.rest = (self.rest + bytes).split(b"\n\n")
        for frame in frames:
            if b"event: hello" in frame:
                self.is_open = True
            elif b"event: job" in frame:
                event = json.loads(frame[frame.index(b"data: ") + 6:])
                if event["id"] != self.id:
                    raise AssertionError(f"the stream of {self.id} has an event of {event['id']}")
                self.events += 1
                self.state = event["state"]


class Requester:
    """A connection that is kept, and sends a request after the response to the one before."""

    def __init__(self, port):
        self.socket, self.rest, self.sent = connect(port), b"", None

    def send(self, port, path):
        self.sent = time.monotonic()
        try:
            self.socket.sendall(request(path))
        except ConnectionError:
            self.socket = connect(port, path)

    def read(self):
        """The status of a complete response."""
        bytes = self.socket.recv(65536)
        if not bytes:
            raise ConnectionError("a connection for requests was closed")
        self.rest += bytes
        head, end, body = self.rest.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) if end else 1 << 40
        if len(body) < length:
            return None
        self.rest, self.sent = b"", None
        return int(head.split(b" ", 2)[1])


def request(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def connect(port, path=None):
    link = socket.create_connection(("127.0.0.1", port), 20)
    if path:
        link.sendall(request(path))
    return link


def run(port, rate, ids):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    poll, owners = select.epoll(), {}
    streams, waiting, opening = [], collections.deque(ids), 0

    def watch(owner):
        owners[owner.socket.fileno()] = owner
        poll.register(owner.socket, select.EPOLLIN)
        return owner

    while waiting or opening:
        while waiting and opening < OPENING:
            streams.append(watch(Stream(port, waiting.popleft())))
            opening += 1
        for number, _ in poll.poll(20):
            stream = owners[number]
            if not stream.is_open:
                stream.read()
                opening -= stream.is_open
    print("ready", flush=True)

    free = [watch(Requester(port)) for _ in range(REQUESTERS)] if rate else []
    poll.register(0, select.EPOLLIN)
    begin, used = time.monotonic(), time.process_time()
    due, count, statuses, times, end = begin, 0, collections.Counter(), [], None
    while end is None or time.monotonic() < end and any(stream.state not in ENDS for stream in streams):
        now = time.monotonic()
        while end is None and free and due <= now:
            free.pop().send(port, (f"/v1/jobs/{ids[count % len(ids)]}", "/v1/queues/default")[count % 2])
            due, count = due + 1 / rate, count + 1
        pause = max(0.001, due - now) if rate and free and end is None else 0.1
        for number, _ in poll.poll(pause):
            if number == 0:
                poll.unregister(0)
                end, seconds, used = time.monotonic() + HANG, time.monotonic() - begin, time.process_time() - used
                continue
            owner = owners[number]
            if isinstance(owner, Stream):
                owner.read()
                continue
            sent = owner.sent
            if status := owner.read():
                statuses[status] += 1
                times.append(time.monotonic() - sent)
                free.append(owner)
    times.sort()
    print(json.dumps({
        "states": collections.Counter(stream.state for stream in streams), "events": sum(stream.events for stream in streams),
        "statuses": statuses, "rate": len(times) / seconds, "median": times[len(times) // 2] if times else None,
        "longest": times[-1] if times else None,
        # The part of a core that this process took.
        "busy": used / seconds}))


if __name__ == "__main__":
    run(int(sys.argv[1]), float(sys.argv[2]), pathlib.Path(sys.argv[3]).read_text().split())
