"""Three workers in containers, a job pushed from another container, its result in the volume; and the minimal image.

Wants podman and podman-compose, or docker. SUITE is that of the images: bookworm, or trixie.
"""

import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile

import pytest
from service import ROOT, check, equal, run, until
from sound import SOURCES, decode, encode, ffmpeg, melody, write

PROJECT = "respool-test"
REDIS = "redis:7-bookworm"
SUITE = os.environ.get("SUITE") or "bookworm"
MEMBERS = f"label=com.docker.compose.project={PROJECT}"
# Image, target of the Dockerfile, and the most MB that it may take over its base.
IMAGES = {"respool": ((), 250), "respool:minimal": (("--target", "minimal"), 125 if SUITE == "bookworm" else 130)}
# What the transcoder of the minimal image loads.
LINKED = """
libavcodec libavformat libavutil libbz2 libc libcodec2 libebur128 libgcc_s libgsm libm libmp3lame libogg libopus librubberband
libseccomp libspeex libstdc++ libswresample libtag libtwolame libvorbis libvorbisenc libz
""".split() + (["libfftw3", "libsamplerate"] if SUITE != "bookworm" else [])
# What is not a file of sound.
OTHERS = ("raw", "hls", "peaks", "png", "spectrogram")


def build(engine, image):
    # The OCI format has no health check.
    run(engine, "build", *(["--format", "docker"] if engine == "podman" else []), "--build-arg", f"SUITE={SUITE}", "-t", image,
        *IMAGES[image][0], "-f", ROOT / "deploy/Dockerfile", ROOT, seconds=7200)


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
        build(self.engine, "respool")
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
def engine():
    engine = next((name for name in ("podman", "docker") if shutil.which(name)), None)
    if not engine:
        pytest.skip("neither podman nor docker is installed")
    return engine


@pytest.fixture
def composition(engine):
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
        "run", "--rm", "--no-healthcheck", "--read-only", "--network", composition.network, "--user", "1000650000:0",
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


@pytest.mark.container
@pytest.mark.alone
def test_the_minimal_image_does_what_the_default_one_does(engine, tmp_path, figures):
    for image in IMAGES:
        build(engine, image)
    sizes = sizes_over_base(engine)
    for image, (_, most) in IMAGES.items():
        check(sizes[image] <= most, f"{image} takes {sizes[image]} MB over its base, and may take {most}")
    linked = {image: loaded(engine, image) for image in IMAGES}
    equal(sorted(linked["respool:minimal"]), sorted(LINKED), "what the transcoder of the minimal image loads")
    for image in IMAGES:
        check_contents(engine, image)

    sources = tmp_path / "sources"
    sources.mkdir()
    results = {image: tmp_path / f"results-{n}" for n, image in enumerate(IMAGES)}
    os.chmod(tmp_path, 0o755)
    write(sources / "sound.wav", melody(2, channels=2), channels=2)
    for name, options in SOURCES.items():
        encode(sources / "sound.wav", sources / name, *options)
    listed = {image: confined(engine, image, sources, results[image], "respool formats --json") for image in IMAGES}
    equal(listed["respool:minimal"], listed["respool"], "formats of the minimal image")
    lines = [f"respool convert /sources/{name} /results/{name}.wav" for name in SOURCES]
    for entry in map(json.loads, listed["respool"].splitlines()):
        if entry["format"] not in OTHERS:
            lines += [f"respool convert --format {entry['format']} --codec {codec['codec']} /sources/sound.wav "
                      f"/results/{entry['format']}-{codec['codec']}.{entry['extension']}" for codec in entry["codecs"]]
    found = {}
    for image in IMAGES:
        confined(engine, image, sources, results[image], "set -e\n" + "\n".join(lines))
        found[image] = {path.name: hashlib.sha256(decode(path)).hexdigest() for path in results[image].iterdir()}
        equal(len(found[image]), len(lines), f"results of {image}")
    other = [name for name in found["respool"] if found["respool"][name] != found["respool:minimal"].get(name)]
    equal(other, [], "results with other samples from the minimal image")
    figures("; ".join(f"{image}: {sizes[image]} MB over its base, {len(linked[image])} libraries" for image in IMAGES)
            + f"; {len(lines)} conversions with the same samples")


def sizes_over_base(engine):
    """{image: MB}, of the tool's table."""
    table = run(ROOT / "Tools/image-sizes", *IMAGES, environment=os.environ | {"ENGINE": engine}).decode()
    row = next(line for line in table.splitlines() if line.startswith("| all |"))
    return dict(zip(IMAGES, map(float, row.strip("|").split("|")[1:])))


def loaded(engine, image):
    """The libraries that the transcoder loads; each program has all that it needs."""
    text = run(engine, "run", "--rm", "--no-healthcheck", "--entrypoint", "sh", image, "-c",
               "ldd /usr/local/libexec/respool/respool-transcode; ldd /usr/local/bin/respool /usr/local/libexec/respool/respool* | "
               "grep 'not found' || true").decode()
    check("not found" not in text, f"{image} lacks libraries: {text}")
    return re.findall(r"(\S+)\.so\S* => ", text)


def check_contents(engine, image):
    """The image has its labels, and lists the packages that it has."""
    described = json.loads(run(engine, "image", "inspect", image))[0]["Config"]
    equal(described["User"], "10001:10001", f"user of {image}")
    for label in ("title", "licenses", "base.name"):
        check(described["Labels"].get(f"org.opencontainers.image.{label}"), f"{image} has no label {label}")
    listed, installed = (run(engine, "run", "--rm", "--no-healthcheck", "--entrypoint", words[0], image, *words[1:]) for words in (
        ["cat", "/usr/share/doc/respool/sbom.spdx.json"], ["dpkg-query", "-W", "-f", "${Package}\n"]))
    names = [package["name"] for package in json.loads(listed)["packages"]]
    own = ["respool", "swift", "swift-corelibs-libdispatch", "swift-foundation"]
    own += ["respool-ffmpeg"] if image.endswith(":minimal") else []
    equal(sorted(names), sorted(own + installed.decode().split()), f"packages that {image} lists")


def confined(engine, image, sources, results, script):
    """Runs lines of shell in the image, as a user that it does not know, without capabilities, network and a writable root."""
    results.mkdir(parents=True, exist_ok=True)
    os.chmod(results, 0o777)
    return run(engine, "run", "--rm", "--no-healthcheck", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
               "--network", "none", "--user", "1000650000:0", "--tmpfs", "/tmp", "-v", f"{sources}:/sources:ro",
               "-v", f"{results}:/results", "--entrypoint", "sh", image, "-c", script, seconds=900).decode()
