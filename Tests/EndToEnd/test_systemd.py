"""The units of deploy/systemd pass systemd's checks, run under a live systemd, and report to it what they do."""

import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import struct
import threading
import time

import pytest
from api import Client
from machine import NAMES, UNITS, Machine
from processes import Process, check, equal, free_port, run, until
from service import RESPOOL
from sound import decode, same
from test_kubernetes import status_of


@pytest.mark.long
def test_the_units_pass_the_checks_of_systemd(service, figures):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    scores = []
    for name in NAMES:
        text = (UNITS / name).read_text()
        # systemd looks for the program in its own folders only.
        unit = pathlib.Path(service.folder, name.replace("@", "@1"))
        unit.write_text(re.sub(r"^ExecStart=respool ", f"ExecStart={RESPOOL} ", text, flags=re.MULTILINE))
        printed = run("systemd-analyze", "verify", "--man=no", unit).decode()
        equal(printed, "", f"what `systemd-analyze verify` says of {name}")
        # The exit status is not 0 if the exposure is over 2.0 of 10.
        shown = run("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit).decode()
        scores.append(re.search(r"exposure level for \S+: ([0-9.]+)", shown)[1])
    figures(f"verify prints nothing; exposure {' and '.join(scores)}")


class Manager:
    """A service manager's socket, and what was sent to it: `reports` are (seconds, {name: value}, pid of the sender)."""

    def __init__(self, folder, is_abstract=False):
        self.name = f"@respool-test-{os.getpid()}" if is_abstract else f"{folder}/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(self.name.replace("@", "\0", 1) if is_abstract else self.name)
        self.reports = []
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        while True:
            text, ((_, _, credentials),), _, _ = self.socket.recvmsg(4096, 64)
            fields = dict(line.split("=", 1) for line in text.decode().split("\n"))
            self.reports.append((time.monotonic(), fields, struct.unpack("iII", credentials)[0]))

    def has(self, **fields):
        return any(fields.items() <= report.items() for _, report, _ in self.reports)

    def times(self, name):
        return [moment for moment, report, _ in self.reports if name in report]

    def status(self):
        return next((report["STATUS"] for _, report, _ in reversed(self.reports) if "STATUS" in report), "")


@pytest.mark.long
@pytest.mark.parametrize("is_abstract", [False, True], ids=["path", "abstract-name"])
def test_a_worker_reports_its_start_its_life_and_its_drain(service, redis, start_worker, audio, web, figures, is_abstract):
    manager = Manager(service.folder, is_abstract)
    audio("slow.wav", 60)
    web.rules = {"/slow.wav": {"rate": 88_200}}
    redis.kill()
    worker = start_worker(environment={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "1500000"}, slots=1, grace=60,
                          allow_hosts="127.0.0.1")
    # Redis is away, and the worker starts all the same.
    until("READY=1", 20, lambda: manager.has(READY="1"))
    until("the status names the outage", 10, lambda: manager.status() == "running 0 jobs; no reply from Redis yet")
    beats = lambda: len(manager.times("WATCHDOG"))
    until("the watchdog is fed without Redis", 10, lambda: beats() >= 3)
    redis.start()
    until("the status is calm", 20, lambda: manager.status() == "running 0 jobs")
    job, = service.push({"source": f"{web.url}/slow.wav", "format": "wav"})
    until("the status has the job", 20, lambda: manager.status() == "running 1 job")
    before = beats()
    until("the watchdog is fed while a job runs", 10, lambda: beats() >= before + 3)
    check(not manager.has(STOPPING="1") and not manager.times("EXTEND_TIMEOUT_USEC"), "it reported its end before a signal")
    worker.send(signal.SIGTERM)
    until("STOPPING=1", 5, lambda: manager.has(STOPPING="1"))
    until("the status has the drain", 5, lambda: manager.status() == "draining 1 job")
    before = beats()
    until("the drain is extended four times", 10, lambda: len(manager.times("EXTEND_TIMEOUT_USEC")) >= 4)
    until("the watchdog is fed during the drain", 10, lambda: beats() >= before + 3)
    extension = {report["EXTEND_TIMEOUT_USEC"] for _, report, _ in manager.reports if "EXTEND_TIMEOUT_USEC" in report}
    equal(extension, {"1500000"}, "microseconds of each extension: three intervals of 0.5 s")
    service.respool("cancel", job)
    equal(worker.wait(), 0, "exit status of the worker")
    moments = manager.times("WATCHDOG")
    # The longest time between two of them would be that of the machine.
    usual = statistics.median(later - earlier for earlier, later in zip(moments, moments[1:]))
    check(usual < 0.75, f"usually {usual:.2f} s without WATCHDOG=1, of 1.5 s")
    equal({pid for _, _, pid in manager.reports}, {worker.pid}, "processes that reported")
    figures(f"{len(manager.reports)} reports, {len(moments)} times WATCHDOG=1, usually {usual:.2f} s apart, of 1.5 s")


@pytest.mark.long
def test_a_server_reports_while_it_answers(service, redis, figures):
    manager = Manager(service.folder)
    port = free_port()
    environment = service.environment | {"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "900000"}
    server = Process([RESPOOL, "serve", "--listen", f"127.0.0.1:{port}"], f"{service.folder}/serve.log", environment)
    until("READY=1", 20, lambda: manager.has(READY="1"))
    equal(status_of(f"http://127.0.0.1:{port}/healthz"), 200, "status after READY=1")
    until("the status is calm", 10, lambda: manager.status() == f"serving on 127.0.0.1:{port}")
    redis.kill()
    until("the status names the outage", 20, lambda: manager.status().endswith("; Redis does not respond"))
    count = len(manager.times("WATCHDOG"))
    until("the watchdog goes on without Redis", 10, lambda: len(manager.times("WATCHDOG")) > count + 3)
    redis.start()
    until("the status is calm again", 20, lambda: manager.status() == f"serving on 127.0.0.1:{port}")
    server.send(signal.SIGTERM)
    equal(server.wait(), 0, "exit status of the server")
    check(manager.has(STOPPING="1"), "the server did not report its end")
    figures(f"{len(manager.times('WATCHDOG'))} times WATCHDOG=1, also without Redis")


@pytest.fixture
def machine(service):
    machines = []

    def start(files):
        machines.append(Machine(service, files))
        return machines[0]

    yield start
    for machine in machines:
        machine.clear()


@pytest.mark.long
def test_the_units_run_under_systemd_with_confined_children(service, redis, machine, audio, web, figures):
    port = free_port()
    os.chmod(service.folder, 0o755)
    os.chmod(redis.path, 0o777)
    # The lines that an operator uncomments for uploads and previews.
    uploads, = {re.search(r"^#(RESPOOL_UPLOAD_DIR=.*\n)", (UNITS / f"{name}.conf").read_text(), re.MULTILINE)[1]
                for name in ("worker", "serve")}
    drop_in = "[Service]\nRestartSec=1\nWatchdogSec=3\nTimeoutStopSec=2\n"
    machine = machine({
        "/etc/respool/worker.conf": "RESPOOL_REDIS_URL=unix:///srv/test/redis.sock\nRESPOOL_SANDBOX=require\nRESPOOL_SLOTS=1\n"
                                    "RESPOOL_ALLOW_HOSTS=127.0.0.1\nRESPOOL_GRACE=60\n" + uploads,
        "/etc/respool/worker-1.conf": "RESPOOL_QUEUE=default\n",
        # Its address is in use, so it ends at once.
        "/etc/respool/worker-2.conf": f"RESPOOL_LISTEN=127.0.0.1:{port}\n",
        "/etc/respool/serve.conf": f"RESPOOL_REDIS_URL=unix:///srv/test/redis.sock\nRESPOOL_LISTEN=127.0.0.1:{port}\n" + uploads,
        "/etc/systemd/system/respool-worker@.service.d/test.conf": drop_in})
    machine("systemctl", "start", "respool-worker@1", "respool-serve", seconds=40)
    pid = int(machine.property("respool-worker@1", "MainPID"))
    check("running" in machine.property("respool-worker@1", "StatusText"), "systemd has no status of the worker")
    machine("systemctl", "start", "--no-block", "respool-worker@2")

    # One job from a file and one from a server, with all that the units forbid.
    sound = audio("a.wav", 3)
    shutil.copy(f"{service.sources}/a.wav", f"{service.folder}/given.wav")
    machine("cp", "/srv/test/given.wav", "/var/lib/respool/sources/a.wav")
    ids = service.push({"source": "file:///var/lib/respool/sources/a.wav", "format": "flac"},
                       {"source": f"{web.url}/a.wav", "format": "opus"})
    service.completed(ids, 30)
    machine("cp", f"/var/lib/respool/outputs/{ids[0]}.flac", "/srv/test/result.flac")
    same(decode(f"{service.folder}/result.flac"), sound, "the result")
    equal(status_of(f"http://127.0.0.1:{port}/v1/jobs/{ids[0]}/outputs/0"), 200, "status of a download")
    # A preview of an output: `serve` links it, and the worker writes among the uploads.
    client = Client(port)
    status, pushed = client("POST", "/v1/previews", {"kind": "peaks", "job": ids[0], "of": "output", "output": 0})
    equal(status, 201, f"a preview: {pushed}")
    service.completed([pushed["id"]], 30)
    equal(status_of(f"http://127.0.0.1:{port}/v1/jobs/{pushed['id']}/outputs/0"), 200, "status of a download of the preview")
    equal(machine("stat", "-c", "%h", f"/var/lib/respool/outputs/{ids[0]}.flac").strip(), b"2", "links of the output")
    found = machine("sh", "-c", f"for child in $(pgrep -P {pid}); do cat /proc/$child/comm /proc/$child/status; done").decode()
    equal(len(re.findall(r"^respool-trans", found, re.MULTILINE)) >= 2, True, "children of the worker")
    for line in ("Seccomp:\t2", "NoNewPrivs:\t1", "CapBnd:\t0000000000000000"):
        equal(found.count(line), found.count("NoNewPrivs:"), f"children with {line}")
    check("fully confined" not in machine.journal("respool-worker@1"), "the children are not fully confined")

    # A worker that stands still is killed by the watchdog, and its job runs again.
    audio("slow.wav", 12)
    arrives = threading.Event()
    web.rules["/slow.wav"] = {"held": arrives}
    job, = service.push({"source": f"{web.url}/slow.wav", "format": "wav"})
    service.wait([job], 20, ["running"])
    machine("kill", "-STOP", str(pid))
    until("systemd restarts the worker", 20, lambda: machine.property("respool-worker@1", "NRestarts") == "1", 0.2)
    until("the worker is active again", 20, lambda: machine.property("respool-worker@1", "ActiveState") == "active", 0.2)
    check("atchdog timeout" in machine.journal("respool-worker@1"), "it was not the watchdog that ended the worker")
    service.wait([job], 30, ["running"])
    until("the job runs in the new worker", 30, lambda: service.status([job])[job]["crashes"] == 1)
    service.wait([job], 30, ["running"])

    # The drain takes longer than TimeoutStopSec, and is extended until the job has ended.
    begin = time.monotonic()
    machine("systemctl", "stop", "--no-block", "respool-worker@1")
    until("the drain takes twice the time to stop", 20, lambda: time.monotonic() > begin + 4)
    equal(machine.property("respool-worker@1", "ActiveState"), "deactivating", "the worker after TimeoutStopSec")
    arrives.set()
    until("the drain ends", 60, lambda: machine.property("respool-worker@1", "ActiveState") == "inactive", 0.2)
    drained = time.monotonic() - begin
    equal(machine.property("respool-worker@1", "Result"), "success", "how the worker ended")
    record = service.status([job])[job]
    equal((record["state"], record["crashes"]), ("completed", 1), "the job after the drain")
    until("systemd leaves the worker that ends at once", 60, lambda: machine.property("respool-worker@2", "ActiveState") == "failed", 0.2)
    restarts = machine.property("respool-worker@2", "NRestarts")
    check("repeated too quickly" in machine.journal("respool-worker@2"), "it was not the limit that ended the restarts")
    machine("systemctl", "stop", "respool-serve", seconds=30)
    equal(machine.property("respool-serve", "Result"), "success", "how the server ended")
    figures(f"jobs from a file and a server, a download, a preview of an output, a watchdog's restart, a drain of {drained:.1f} s "
            f"with TimeoutStopSec=2, {restarts} restarts of a worker that ends at once")
