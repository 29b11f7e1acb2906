"""Clients that each follow a job of their own, a thousand in `make soak`, and others that ask many times a second, beside a worker."""

import pathlib

import pytest
from api import Client, start_server
from listeners import Listeners
from processes import free_port
from service import check, equal, until

# An idle stream takes 21 kB.
MAX_MEGABYTES, MAX_MEGABYTES_A_STREAM = 40, 0.02


def megabytes(pid):
    """The most memory that a process has had."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


@pytest.mark.parametrize(("listeners", "clips", "rate"), [
    pytest.param(100, 20, 50, marks=pytest.mark.long), pytest.param(1000, 200, 200, marks=pytest.mark.soak)])
def test_many_listeners_get_the_events_of_their_jobs(service, start_worker, audio, figures, listeners, clips, rate):
    audio("clip.wav", 5)
    port, log = free_port(), f"{service.folder}/serve.log"
    server = start_server(service, port, log, api_streams_per_address=listeners + 10, api_connections_per_address=64)
    source = service.source("clip.wav")
    # The clips are converted, and the rest is cancelled at the end.
    ids = service.push(*[{"source": source, "format": "flac", "passthrough": "never", "delay": "3600"}] * listeners)
    client = Client(port)
    until("all jobs are admitted", 60, lambda: client("GET", "/v1/queues/default")[1]["counts"]["delayed"] == listeners)
    followers = Listeners(port, ids, rate, service.folder)
    start_worker(slots=2)
    for id in ids[:clips]:
        equal(client("POST", f"/v1/jobs/{id}/run")[0], 200, "a job that may start")
    service.completed(ids[:clips], 300)
    for first in range(clips, listeners, 500):
        service.respool("cancel", *ids[first:first + 500])
    seen = followers.stop()
    used = megabytes(server.pid)
    equal(seen["states"], {"completed": clips, "cancelled": listeners - clips}, "the last state that each listener saw")
    equal(set(seen["statuses"]), {"200"}, "the statuses of all requests")
    check(used <= MAX_MEGABYTES + listeners * MAX_MEGABYTES_A_STREAM, f"serve used {used:.0f} MB")
    server.popen.terminate()
    equal(server.wait(), 0, "the exit status of the server")
    check("error" not in pathlib.Path(log).read_text(), f"the log of serve: {server.tail()}")
    figures(
        f"{listeners} listeners got {seen['events']} events, {seen['statuses']['200']} requests at {seen['rate']:.0f}/s, "
        f"median {seen['median'] * 1000:.1f} ms, longest {seen['longest'] * 1000:.0f} ms, serve {used:.0f} MB")
