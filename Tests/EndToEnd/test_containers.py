"""Three workers in containers, a job pushed from another container, its result in the volume.

Wants podman and podman-compose, or docker.
"""

import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile

import pytest
from service import ROOT, check, equal, run, until
from sound import decode, ffmpeg

PROJECT = "respool-test"
REDIS = "redis:7-bookworm"
MEMBERS = f"label=com.docker.compose.project={PROJECT}"


class Composition:
    """The containers of docker-compose.yml under a project's name; `clear` removes them and their volumes."""

    def __init__(self, engine):
        self.engine = engine
        self.is_podman = engine == "podman"
        self.folder = tempfile.mkdtemp(prefix="respool-test.")
        os.chmod(self.folder, 0o755)
        self.password = secrets.token_hex(16)
        self.environment = os.environ | {
            "RESPOOL_WORKERS": "3", "RESPOOL_ALLOW_HOSTS": "", "RESPOOL_REDIS_PASSWORD": self.password,
            "RESPOOL_SOURCES": self.folder}
        self.network = ""

    def __call__(self, *words, **options):
        return run(self.engine, *words, environment=self.environment, **{"seconds": 120} | options).decode()

    def told(self, *words, seconds=20):
        """All that a command prints, whatever its status; it is ended after some seconds."""
        done = subprocess.run(
            ["timeout", str(seconds), self.engine, *words], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode(errors="replace")

    def compose(self, *words, **options):
        command = ["podman-compose"] if self.is_podman else ["docker", "compose"]
        return run(*command, "-p", PROJECT, "-f", ROOT / "docker-compose.yml", *words, environment=self.environment, **options)

    def start(self):
        # The OCI format has no health check.
        self("build", *(["--format", "docker"] if self.is_podman else []), "-t", "respool", "-f", ROOT / "deploy/Dockerfile", ROOT,
             seconds=3600)
        self.compose("up", "-d", seconds=600)
        names = self("network", "ls", "--format", "{{.Name}}").split()
        self.network = next(name for name in names if name.startswith(PROJECT))

    def workers(self):
        return self("ps", "--filter", MEMBERS, "--filter", "label=com.docker.compose.service=worker",
                    "--format", "{{.Names}}").split()

    def redis(self, *words):
        return self("run", "--rm", "--network", self.network, "-e", f"REDISCLI_AUTH={self.password}", "--entrypoint", "redis-cli",
                    REDIS, "-h", "redis", *words).strip()

    def clear(self):
        self.compose("down", "--volumes", statuses=range(256), seconds=300)
        volumes = [name for name in self("volume", "ls", "-q").split() if name.startswith(f"{PROJECT}_")]
        if volumes:
            self("volume", "rm", "-f", *volumes, statuses=range(256))
        self("network", "rm", "-f", f"{PROJECT}_default", statuses=range(256))
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def composition():
    engine = next((name for name in ("podman", "docker") if shutil.which(name)), None)
    if not engine:
        pytest.skip("neither podman nor docker is installed")
    composition = Composition(engine)
    yield composition
    composition.clear()


@pytest.mark.container
@pytest.mark.alone
def test_workers_in_containers_do_a_job_that_another_container_pushes(composition, figures):
    composition.start()
    workers = composition.workers()
    equal(len(workers), 3, "workers")
    # The source reaches the folder of the sources as a person would put it there.
    ffmpeg("-f", "lavfi", "-i", "sine=frequency=440:duration=30:sample_rate=44100", f"{composition.folder}/a.flac")

    stranger = composition.told("run", "--rm", "--network", composition.network, "--entrypoint", "redis-cli", REDIS, "-h", "redis",
                                "ping")
    check("NOAUTH" in stranger, f"Redis answers '{stranger}' without a password")
    id = composition.redis("XADD", "respool:{default}:in", "*", "source", "file:///srv/respool/sources/a.flac", "format", "mp3",
                           "start", "5", "end", "25")

    def is_over():
        # The network's names are gone for a moment whenever a container joins or leaves it.
        state = composition.told("exec", workers[0], "respool", "status", id, "--json")
        check('"state":"failed"' not in state, state)
        return '"state":"completed"' in state

    until("the job is completed", 60, is_over, 1)
    result = pathlib.Path(composition.folder, "a.mp3")
    result.write_bytes(run(composition.engine, "run", "--rm", "-v", f"{PROJECT}_outputs:/outputs:ro", "--entrypoint", "/bin/cat",
                           REDIS, f"/outputs/{id}.mp3", environment=composition.environment))
    samples = len(decode(result)) // 2
    equal(samples, 882_000, "samples of the result")
    for worker in workers:
        check_confinement(composition, worker)

    # Any user of the group 0 may run it; one of a group that does not own the folders is told what helps.
    started = composition.told(
        "run", "--rm", "--read-only", "--network", composition.network, "--user", "1000650000:0",
        "-e", f"RESPOOL_REDIS_URL=redis://:{composition.password}@redis:6379", "respool", "worker")
    check("worker started" in started, f"as any user: {started}")
    refused = composition.told("run", "--rm", "--user", "1000650000:1000650000", "respool", "worker")
    check("chown -R 1000650000:1000650000" in refused, f"as nobody's user: {refused}")
    figures(f"{len(workers)} healthy workers, {id} pushed from another container, {samples} samples in the volume")


def check_confinement(composition, worker):
    """A worker is healthy, has no capabilities, cannot write to its root, and warns of nothing around it."""
    if composition.is_podman:
        composition("healthcheck", "run", worker)
    composition("exec", worker, "respool", "worker", "--check")
    equal(composition("exec", worker, "sh", "-c", "id -u; id -g").split(), ["10001", "10001"], f"user and group of {worker}")
    status = composition("exec", worker, "cat", "/proc/1/status")
    for line in ("CapBnd:\t0000000000000000", "NoNewPrivs:\t1"):
        check(line in status, f"{worker} lacks {line}")
    touched = composition.told("exec", worker, "sh", "-c", "touch /srv/respool/x && echo written")
    check("written" not in touched, f"the root of {worker} can be written to")
    log = composition.told("logs", worker)
    check("fully confined" not in log and "password" not in log, f"{worker} warns of its surroundings: {log}")
