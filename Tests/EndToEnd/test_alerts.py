"""Each alert of deploy/prometheus fires on scrapes of programs that are in the situation it is for."""

import base64
import http.server
import os
import pathlib
import re
import signal
import threading
import time
import urllib.error
import urllib.request

import pytest
from alerting import RULES, Alerts, Target, promtool
from processes import children, equal, run, until
from service import PREFIX, RESPOOL, ROOT, Process


@pytest.fixture
def alerts():
    promtool()
    return Alerts()


def serve(service):
    """Starts the HTTP API, and waits until it sees Redis."""
    target = Target("respool-serve")
    server = Process([RESPOOL, "serve", "--listen", target.address], f"{service.folder}/serve.log", service.environment)
    until("the HTTP API sees Redis", 30, lambda: target.has("respool_queue_up{"))
    return target, server


def work(start_worker, **settings):
    """Starts a worker with one slot, and waits until it is scraped."""
    target = Target("respool")
    worker = start_worker(**({"slots": 1, "listen": target.address, "allow_hosts": "127.0.0.1", "lease": 10} | settings))
    until("the worker is scraped", 30, lambda: target.has("respool_slots{"))
    return target, worker


def status(target, path):
    try:
        with urllib.request.urlopen(f"http://{target.address}{path}", timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class Refusal(http.server.BaseHTTPRequestHandler):
    """A receiver that wants no callbacks."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(410)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.long
def test_each_alert_has_a_situation():
    names = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    equal(set(re.findall(r'fires\("(\w+)"', pathlib.Path(__file__).read_text())), names, "alerts with a situation")


@pytest.mark.long
def test_alerts_of_the_queue_and_the_http_api_fire(service, redis, start_worker, audio, alerts, figures):
    api, server = serve(service)
    calm = api.scrape()
    # A job that was pushed an hour ago, and no worker.
    audio("a.wav", 1)
    job = redis("XADD", PREFIX + "in", f"{int(time.time() * 1000) - 3_600_000}-0", "source", service.source("a.wav"), "format", "flac")
    until("the job is seen", 20, lambda: api.has('respool_queue_jobs{job="respool-serve",instance="%s",queue="default",state="waiting"' % api.address))
    alone = api.scrape()
    alerts.fires("RespoolQueueWithoutWorker", calm, alone, 4)
    alerts.fires("RespoolBacklogOld", calm, alone, 8)
    worker, process = work(start_worker)
    service.completed([job], 60)
    alerts.fires("RespoolJobsWait", {}, worker.scrape(), 13, grows=True)
    for _ in range(3):
        equal(status(api, "/v1/jobs"), 200, "a list")
    before = api.scrape()
    redis.kill()
    for _ in range(3):
        equal(status(api, "/v1/jobs"), 503, "a list without Redis")
    until("the outage is seen", 20, lambda: not api.has("respool_queue_up{"))
    down = api.scrape()
    alerts.fires("RespoolQueueUnreachable", before, down, 4)
    alerts.fires("RespoolServeErrors", before, down, 8, grows=True)
    up = worker.scrape() | api.scrape()
    server.kill()
    alerts.fires("RespoolServeDown", up, api.scrape(), 7)
    process.kill()
    alerts.fires("RespoolWorkerDown", up, worker.scrape(), 7)
    alerts.fires("RespoolNoWorker", up, worker.scrape(), 4)
    figures(f"{len(alerts.check())} alerts fire")


@pytest.mark.long
def test_alerts_of_workers_fire(service, redis, start_worker, audio, web, alerts, figures):
    secret = "whsec_" + base64.b64encode(os.urandom(32)).decode()
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    worker, process = work(start_worker, callback_secret=secret, allow_output_hosts="127.0.0.1", max_crashes=1)
    audio("slow.wav", 60)
    web.rules["/slow.wav"] = {"rate": 50_000}
    slow = {"source": f"{web.url}/slow.wav", "format": "flac"}
    pathlib.Path(service.sources, "bad").write_text("no audio")
    bad = {"source": service.source("bad"), "format": "flac"}

    # Attempts that fail, one before and twelve after.
    service.wait(service.push(bad), 60)
    calm = worker.scrape()
    service.wait(service.push(*[bad] * 12), 120)
    alerts.fires("RespoolAttemptsFail", calm, worker.scrape(), 8, grows=True)

    # A callback that is refused.
    audio("a.wav", 1)
    callback = f"http://127.0.0.1:{receiver.server_address[1]}/"
    service.completed(service.push({"source": service.source("a.wav"), "format": "flac", "callback": callback}), 60)
    until("the callback is given up", 60, lambda: worker.has('outcome="failed"') and worker.has("respool_callbacks_total{"))
    alerts.fires("RespoolCallbacksFail", calm, worker.scrape(), 2)

    def crash():
        id, = service.push(slow)
        until("it is converted", 30, lambda: service.status([id])[id]["phase"] == "converting")
        for pid, program in children(process.pid).items():
            if program == "respool-transcode":
                os.kill(pid, signal.SIGKILL)
        service.wait([id], 60)

    crash()
    before = worker.scrape()
    for _ in range(4):
        crash()
    alerts.fires("RespoolChildrenCrash", before, worker.scrape(), 2)

    # All slots are busy.
    id, = service.push(slow)
    service.wait([id], 30, states=("running",))
    busy = worker.scrape()
    alerts.fires("RespoolSlotsBusy", calm, busy, 32)

    # The worker is killed, and another one takes the job over.
    other, _ = work(start_worker)
    before = other.scrape()
    process.kill()
    until("the lease is reaped", 60, lambda: other.has("respool_leases_reaped_total{"))
    alerts.fires("RespoolWorkerLost", before, other.scrape(), 2)

    # Redis answers slowly, and then not at all.
    before = other.scrape()

    def is_slow():
        redis("CLIENT", "PAUSE", 400, "ALL")
        time.sleep(0.45)
        samples = other.scrape()
        operations = {name for name in samples if "respool_redis_seconds_count{" in name and 'operation="beat"' in name}
        quick = {name: name.replace("_count{", "_bucket{").replace("}", ',le="0.1"}') for name in operations}
        return any(samples[name] > samples[quick[name]] for name in operations)

    until("a heartbeat is slow", 30, is_slow, pause=0)
    alerts.fires("RespoolRedisSlow", before, other.scrape(), 13, grows=True)
    before = other.scrape()
    redis.kill()
    until("the outage is counted", 60, lambda: other.has("respool_redis_outages_total{"))
    alerts.fires("RespoolRedisOutage", before, other.scrape(), 2)
    figures(f"{len(alerts.check())} alerts fire")


@pytest.mark.long
def test_alerts_of_replicas_and_the_spool_fire(service, start_worker, audio, alerts, figures):
    # No replica acknowledges a publication.
    audio("a.wav", 1)
    worker, process = work(start_worker, wait_replicas=1, wait_timeout=1)
    before = worker.scrape()
    service.push({"source": service.source("a.wav"), "format": "flac"})
    until("the publication is not acknowledged", 60, lambda: worker.has("respool_unacknowledged_total{"))
    alerts.fires("RespoolPublicationUnacknowledged", before, worker.scrape(), 2)
    process.kill()
    # The file system of the spool seems to be full while a file exists.
    mark, library = f"{service.folder}/full", f"{service.folder}/full-disk.so"
    run("cc", "-shared", "-fPIC", f'-DMARK="{mark}"', "-o", library, ROOT / "Tests/Preloads/full-disk.c")
    worker, _ = work(start_worker, environment={"LD_PRELOAD": library})
    free = "respool_spool_free_bytes"
    until("the spool is measured", 60, lambda: worker.has(free))
    before = worker.scrape()
    pathlib.Path(mark).touch()
    until("the spool seems to be full", 60, lambda: not worker.has(free))
    alerts.fires("RespoolSpoolFull", before, worker.scrape(), 7)
    figures(f"{len(alerts.check())} alerts fire")
