"""The Debian package in a clean container: installed, a job converted, upgraded over a running worker, removed and purged; and
`respool up` there, used by its page alone.

Wants podman or docker. SUITE is that of the container: bookworm, or trixie. The package is made of the release programs, or in the
root of Tools/platforms for another suite than this machine's, unless PACKAGE names one.
"""

import hashlib
import os
import pathlib
import platform
import re
import shutil
import tempfile

import pytest
from api import Client
from page import convert_dropped, job_of
from processes import free_port
from service import ROOT, check, equal, run, until
from sound import decode, ffmpeg

SUITE = os.environ.get("SUITE") or "bookworm"
BASE = f"debian:{SUITE}-slim"
FOLDERS = {"/etc/respool": "750 root respool", "/var/lib/respool": "755 respool respool",
           "/var/lib/respool/sources": "2775 respool respool", "/var/lib/respool/outputs": "2750 respool respool",
           "/var/lib/respool/uploads": "2750 respool respool"}
# What systemd sets for a worker, with a Redis without a password on a socket.
SETTINGS = {"RESPOOL_SOURCE_ROOTS": "/var/lib/respool/sources", "RESPOOL_OUTPUT_ROOT": "/var/lib/respool/outputs",
            "RESPOOL_SPOOL_DIR": "/var/cache/respool/1", "RESPOOL_REDIS_URL": "unix:///run/redis/redis.sock", "RESPOOL_SLOTS": "2"}
COUNT = 40


class Container:
    """A container of Debian's base image; calling it runs a program in it, whose last lines are kept for a transcript."""

    def __init__(self, engine, folder):
        self.engine = engine
        self.transcript = []
        # The port of this machine that leads to 8080 of the container.
        self.port = free_port()
        self.name = run(engine, "run", "--detach", "--rm", "--publish", f"127.0.0.1:{self.port}:8080", "--volume", f"{folder}:/packages",
                        BASE, "sleep", "infinity", seconds=600).decode().strip()

    def __call__(self, *words, statuses=(0,), seconds=120, **settings):
        options = [option for name, value in settings.items() for option in ("--env", f"{name}={value}")]
        text = run(self.engine, "exec", *options, self.name, *words, statuses=statuses, seconds=seconds).decode(errors="replace")
        line = f"$ {' '.join(map(str, words))}"[:160]
        if line not in self.transcript[-5:]:
            self.transcript += [line, *(one[:160] for one in text.strip().splitlines()[-4:])]
        return text

    def as_respool(self, *words, **options):
        return self("runuser", "-u", "respool", "--", *words, **SETTINGS, **options)

    def start(self, log, *words):
        """Starts a program in the background as the user respool."""
        lines = " ".join(f"{name}='{value}'" for name, value in SETTINGS.items())
        self("sh", "-c", f"{lines} exec setsid runuser -u respool -- {' '.join(words)} >{log} 2>&1 &")

    def clear(self):
        run(self.engine, "rm", "--force", self.name, statuses=range(256))


def make_package():
    """Makes the package of the suite; returns its path."""
    platforms = ROOT / "Tools/platforms"
    is_own = platform.freedesktop_os_release()["VERSION_CODENAME"] == SUITE
    words = [ROOT / "deploy/make-package"] if is_own else [platforms, "run", SUITE, "make", "deb"]
    made = run(*words, seconds=7200).decode().splitlines()[-1].split(": ")[0]
    # In the root, the folder of the build is the one beside it.
    return ROOT / made if is_own else pathlib.Path(run(platforms, "root", SUITE).decode().strip() + made)


@pytest.fixture
def packages():
    """A folder with the package, and one of a later version that has the same files."""
    made = os.environ.get("PACKAGE") or make_package()
    folder = tempfile.mkdtemp(prefix="respool-test.")
    os.chmod(folder, 0o755)
    shutil.copy(ROOT / made, f"{folder}/first.deb")
    run("dpkg-deb", "--raw-extract", f"{folder}/first.deb", f"{folder}/tree")
    control = pathlib.Path(folder, "tree/DEBIAN/control")
    control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 1:"))
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", f"{folder}/tree", f"{folder}/second.deb")
    shutil.rmtree(f"{folder}/tree")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def container(packages):
    engine = next((name for name in ("podman", "docker") if shutil.which(name)), None)
    if not engine:
        pytest.skip("neither podman nor docker is installed")
    container = Container(engine, packages)
    yield container
    print("\n".join(container.transcript))
    container.clear()


def install(container, *names):
    return container("apt-get", "install", "-q", "-y", "--no-install-recommends", *names, seconds=900, DEBIAN_FRONTEND="noninteractive")


def check_installed(container):
    """The command, its page, completions and units are there; the user and folders exist."""
    check("respool " in container("respool", "--version"), "the command does not say its version")
    check("/usr/share/man/man1/respool.1.gz" in container("sh", "-c", "zcat /usr/share/man/man1/respool.1.gz | grep -c enqueue; "
                                                          "ls /usr/share/man/man1/respool.1.gz"), "there is no manual page")
    check("respool" in container("bash", "-c", ". /usr/share/bash-completion/completions/respool; complete -p respool"), "no completions")
    equal(container("systemd-analyze", "verify", "respool-worker@1.service", "respool-serve.service").strip(), "", "complaints of systemd")
    check("nologin" in container("getent", "passwd", "respool"), "the user can log in")
    for folder, expected in FOLDERS.items():
        equal(container("stat", "-c", "%a %U %G", folder).strip(), expected, f"mode of {folder}")
    equal(container("stat", "-c", "%a", "/etc/respool/worker.conf").strip(), "640", "mode of the settings")


def worker(container):
    """The process of the worker that sends heartbeats."""
    found = re.search(r"worker (\d+) ", container.as_respool("respool", "worker", "--check", statuses=(0, 1)))
    return found and found[1]


def drain(container, pid):
    """Stops a worker, or `respool up`, as `systemctl stop` does."""
    container("sh", "-c", f"kill -TERM {pid}")
    until(f"{pid} has ended", 60, lambda: pid not in running(container), 0.5)


def running(container):
    """{pid: name} of the processes; those that the container's first process does not wait for have ended."""
    lines = "for one in /proc/[0-9]*; do echo $(grep -E '^(Name|State|Pid):' $one/status); done"
    rows = [row.split() for row in container("sh", "-c", lines).splitlines()]
    return {row[row.index("Pid:") + 1]: row[1] for row in rows if "Pid:" in row and row[row.index("State:") + 1] != "Z"}


def completed(container, ids):
    """The records of the jobs that are completed."""
    text = container.as_respool("respool", "status", "--json", *ids, statuses=(0, 1))
    return [line for line in text.splitlines() if '"state":"completed"' in line]


@pytest.mark.container
@pytest.mark.alone
def test_the_package_is_installed_upgraded_over_a_running_worker_and_purged(container, packages, figures):
    container("apt-get", "update", "-q", seconds=300)
    install(container, "/packages/first.deb", "redis-server")
    first = container("dpkg-query", "-W", "-f", "${Version}", "respool")
    check_installed(container)

    # Redis, and a worker as systemd starts it.
    container("install", "-d", "-o", "respool", "/run/redis", "/var/cache/respool/1")
    container("redis-server", "--daemonize", "yes", "--port", "0", "--unixsocket", "/run/redis/redis.sock", "--unixsocketperm", "777",
              "--dir", "/tmp", "--appendonly", "yes")
    ffmpeg("-f", "lavfi", "-i", "sine=frequency=440:duration=30:sample_rate=44100", f"{packages}/a.flac")
    container("install", "-o", "respool", "/packages/a.flac", "/var/lib/respool/sources")
    container.start("/tmp/worker.log", "respool", "worker")
    pid = until("the worker sends heartbeats", 30, lambda: worker(container))

    source = ["file:///var/lib/respool/sources/a.flac"]
    id = container.as_respool("respool", "enqueue", *source, "--to", "mp3", "--start", "5", "--end", "25", "--wait").split()[0]
    container("cp", f"/var/lib/respool/outputs/{id}.mp3", "/packages/a.mp3")
    equal(len(decode(f"{packages}/a.mp3")) // 2, 882_000, "samples of the result")

    # The upgrade runs while jobs run.
    ids = container.as_respool("respool", "enqueue", *source * COUNT, "--to", "m4a").split()
    until("jobs are completed", 120, lambda: len(completed(container, ids)) >= 3)
    install(container, "/packages/second.deb")
    second = container("dpkg-query", "-W", "-f", "${Version}", "respool")
    check(second != first, "the package was not upgraded")
    during = len(completed(container, ids))
    check(during < COUNT, "the upgrade was to run while jobs run")
    until("all jobs are completed", 300, lambda: len(completed(container, ids)) == COUNT, 0.5)
    for line in completed(container, ids):
        check('"attempt":1' in line and '"crashes":0' in line, f"a job ran twice: {line}")
    equal(worker(container), pid, "the worker's process")
    drain(container, pid)
    container.start("/tmp/worker.2.log", "respool", "worker")
    container.as_respool("respool", "enqueue", *source, "--to", "opus", "--wait", seconds=60)
    drain(container, until("the next worker sends heartbeats", 30, lambda: worker(container)))

    container("apt-get", "remove", "-q", "-y", "respool", seconds=300)
    equal(container("sh", "-c", "ls /usr/bin/respool /usr/libexec/respool 2>/dev/null || true").strip(), "", "programs after removal")
    container("test", "-f", "/etc/respool/worker.conf")
    container("apt-get", "purge", "-q", "-y", "respool", seconds=300)
    left = container("sh", "-c", "find / -xdev -name '*respool*' -not -path '/proc/*' -not -path '/packages/*' -not -path '/tmp/*' -not -path '/var/lib/apt/*'"
                     ).split()
    equal(sorted(left), ["/var/lib/respool"], "what is left")
    results = container("sh", "-c", "ls /var/lib/respool/outputs | wc -l").strip()
    equal(int(results), COUNT + 2, "results that are left")
    figures(f"{first} → {second}, with {during} of {COUNT} jobs done then and {COUNT} after, each in its first attempt; removed and purged, "
            f"{results} results are left")


@pytest.mark.container
@pytest.mark.alone
def test_up_in_a_clean_container_is_used_by_its_page_alone(container, packages, browser, expect, figures):
    container("apt-get", "update", "-q", seconds=300)
    install(container, "/packages/first.deb", "redis-server")
    digest = hashlib.sha256(b"boss-secret").hexdigest()
    pathlib.Path(packages, "tokens").write_text(f"boss operate {digest}\n")
    # As a person would start it; without tokens, it listens on loopback alone.
    pid = container("sh", "-c", "respool up --listen 0.0.0.0:8080 --tokens /packages/tokens >/tmp/up.log 2>&1 & echo $!").strip()
    client = Client(container.port, "boss-secret")

    def is_ready():
        try:
            return client.status("/readyz") == 200
        except OSError:
            return False

    until("the page is served", 30, is_ready)
    ffmpeg("-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+40*t)*t):duration=20:sample_rate=44100", f"{packages}/sweep.wav")
    url = f"http://localhost:{container.port}/"
    page = browser.page(url)
    page.get_by_label("Token", exact=True).fill("boss-secret")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    download = convert_dropped(page, url, f"{packages}/sweep.wav", expect, "up-in-container")
    output = client("GET", f"/v1/jobs/{job_of(page)}")[1]["outputs"][0]
    equal(hashlib.sha256(download.read_bytes()).hexdigest(), output["sha256"], "SHA-256 of the download")
    equal(browser.complaints, [], "complaints of the browser")
    drain(container, pid)
    equal([name for name in running(container).values() if name.startswith(("respool", "redis"))], [], "what still runs")
    figures(f"a range of 5.99 s of a dropped file was converted, heard to its end and downloaded: {output['bytes']} bytes")
