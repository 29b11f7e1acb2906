"""Fixtures and options of the end-to-end tests."""

import fcntl
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("PROGRAMS", str(ROOT / ".build/debug"))

import costs
from page import Browser, Site
from processes import HANG, Process, free_port
from service import Service
from sound import encode, melody, write
from web import Server

SERVICE, OPTIONS, CIRCUMSTANCES = (pytest.StashKey() for _ in range(3))
SIZES = {"quick", "long", "release", "container", "soak", "sanitizer"}


def pytest_addoption(parser):
    group = parser.getgroup("respool")
    group.addoption("--count", type=int, help="how many steps, files, conversions or rounds a walk has")
    group.addoption("--seed", type=int, help="the seed of a walk")
    group.addoption("--part", default="", help="the part of all conversions: 'source=flac format=mp3,opus rate=44100 layout=stereo'")
    group.addoption("--costs", action="store_true", help="print the CPU and the wall seconds of each test as a table")
    group.addoption("--keep", action="store_true", help="keep the folders of tests that fail")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: pytest.exit(f"signal {number}", 128 + number))
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal:
        config.pluginmanager.register(Lines(terminal))
    if config.getoption("costs"):
        config.pluginmanager.register(costs.Costs(terminal))


def pytest_collection_modifyitems(items):
    for item in items:
        names = {marker.name for marker in item.iter_markers()}
        if not names & SIZES:
            raise pytest.UsageError(f"{item.nodeid} has none of the markers {', '.join(sorted(SIZES))}")
        if names & {"container", "release", "sanitizer", "soak"}:
            item.add_marker(pytest.mark.timeout(0))
    items.sort(key=is_alone)


def is_alone(item):
    return item.get_closest_marker("alone") is not None


class Lines:
    """Prints a line for each test when it ends, with its seconds and what it measured, or why it was skipped."""

    def __init__(self, terminal):
        self.terminal = terminal

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report):
        if report.when == "call" or report.skipped:
            return report.outcome, "", report.outcome.upper()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rsplit("/", 1)[-1]
        if report.skipped:
            self.terminal.ensure_newline()
            reason = f"fails as expected: {report.wasxfail}" if hasattr(report, "wasxfail") else report.longrepr[2].removeprefix("Skipped: ")
            self.terminal.write_line(f"SKIPPED {name}: {reason}")
        if report.skipped or report.when != "call":
            return
        self.terminal.ensure_newline()
        figures = "".join(f": {value}" for key, value in report.user_properties if key == "figures")
        self.terminal.write_line(f"{report.outcome.upper():6} {name} ({report.duration:.1f} s){figures}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds to the report of a failure what is known of it, and keeps the folder where it is asked for."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    report.sections += circumstances(item) if report.when != "teardown" else item.stash.get(CIRCUMSTANCES, [])
    service = item.stash.get(SERVICE, None)
    if report.when == "call" and service and item.config.getoption("keep"):
        kept = tempfile.mkdtemp(prefix=f"respool-{item.originalname}.")
        shutil.copytree(service.folder, kept, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))
        report.sections.append(("folder", kept))


def circumstances(item):
    """The options of a test, the state of its queue, and the last lines of its processes: pairs of a title and a text."""
    found = [("options", ", ".join(f"{name} {value}" for name, value in item.stash.get(OPTIONS, {}).items()))]
    if service := item.stash.get(SERVICE, None):
        found.append(("queue", service.state()))
    return [pair for pair in found + Process.last_lines() if pair[1]]


@pytest.fixture(autouse=True)
def turn(request):
    """Under pytest-xdist: waits until no test runs that has to be alone, or, for such a one, until no other test runs."""
    with open(__file__) as file:
        fcntl.flock(file, fcntl.LOCK_EX if is_alone(request.node) else fcntl.LOCK_SH)
        request.node.stash[costs.BEGIN] = time.monotonic()
        yield


@pytest.fixture
def service(request):
    """A private installation with a Redis and no worker yet."""
    marker = request.node.get_closest_marker("redis_options")
    words, tcp = (marker.args, marker.kwargs.get("tcp")) if marker else ((), False)
    service = request.node.stash[SERVICE] = Service(*words, port=free_port() if tcp else 0)
    yield service
    # A fixture that fails in its end is reported when nothing is left.
    request.node.stash[CIRCUMSTANCES] = circumstances(request.node)
    service.clear()


@pytest.fixture
def redis(service):
    """The redis-server of the installation: `redis("PING")`."""
    return service.redis


@pytest.fixture
def start_worker(service):
    """Starts a worker: `start_worker(slots=1)`; its settings are RESPOOL_* variables in lower case, without the prefix."""
    return service.worker


@pytest.fixture
def audio(service):
    """Makes a source: `audio("a.flac", 20)`; returns its samples of 16 bits at 44.1 kHz."""
    def make(name, seconds, *words, channels=1, seed=1):
        samples = melody(seconds, seed, channels)
        path = f"{service.sources}/{name}"
        if name.endswith(".wav") and not words:
            write(path, samples, channels)
        else:
            write(f"{service.folder}/plain.wav", samples, channels)
            encode(f"{service.folder}/plain.wav", path, *words)
        return samples

    return make


@pytest.fixture
def web(service):
    """An HTTP server on loopback that serves the sources."""
    return Server(service.sources)


@pytest.fixture
def site(service):
    """A server of the page: `site.url`."""
    return Site(service)


@pytest.fixture
def browser():
    """A headless Chromium: `browser.page(url)` opens a tab."""
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def expect(browser):
    """Playwright's assertions, which wait."""
    from playwright.sync_api import expect
    expect.set_options(timeout=1000 * HANG)
    return expect


@pytest.fixture
def figures(record_property):
    """Takes the sentence of figures that is printed when the test has passed."""
    return lambda sentence: record_property("figures", sentence)


@pytest.fixture
def option(request):
    """The value of an option of the command line, or a default."""
    def value(name, default):
        given = request.config.getoption(name)
        return request.node.stash.setdefault(OPTIONS, {}).setdefault(name, default if given is None else given)

    return value
