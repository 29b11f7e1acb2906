"""What each test costs: CPU and wall seconds of the test and of all its processes, as a table (`--costs`)."""

import ctypes
import os
import pathlib
import resource
import time

import pytest

SUBREAPER = 36


def used():
    """The CPU seconds of this process and of all descendants that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def reap():
    """Waits for children that have ended, orphans of killed workers among them: only then does the kernel count their CPU time."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rsplit(")", 1)[1].split()[:2]
            if state == "Z" and int(parent) == os.getpid():
                os.waitpid(int(path.parent.name), 0)
        except OSError:
            continue


class Costs:
    """Measures each test, where it runs, and prints the table, where its reports arrive."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.rows = []
        # Orphans become children of this process.
        ctypes.CDLL(None).prctl(SUBREAPER, 1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        self.cpu = used()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if call.when == "teardown":
            reap()
            report.user_properties.append(("cpu", used() - self.cpu))
            # Since the test has had its turn.
            report.user_properties.append(("wall", time.monotonic() - item.stash.get(BEGIN, time.monotonic())))

    def pytest_runtest_logreport(self, report):
        costs = dict(report.user_properties)
        if report.when == "teardown" and self.terminal:
            self.rows.append((costs["cpu"], costs["wall"], report.nodeid.rsplit("/", 1)[-1]))

    def pytest_terminal_summary(self, terminalreporter):
        if not self.rows:
            return
        terminalreporter.write_line("CPU s  wall s  test")
        for cpu, wall, name in [*sorted(self.rows, reverse=True), (*map(sum, list(zip(*self.rows))[:2]), f"all {len(self.rows)}")]:
            terminalreporter.write_line(f"{cpu:6.1f} {wall:6.1f}  {name}")


BEGIN = pytest.StashKey[float]()
