"""Programs that a test runs or starts, and assertions."""

import ctypes
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

CHILDREN = ("respool-transfer", "respool-transcode")
DIE_WITH_PARENT = 1
# Seconds after which what is waited for hangs: many times what it takes, so that no wait judges a machine.
HANG = 120
libc = ctypes.CDLL(None)
reservations = []


class Failed(AssertionError):
    """An expectation that did not hold."""


def check(holds, sentence):
    if not holds:
        raise Failed(sentence)


def equal(found, expected, what):
    check(found == expected, f"{what}: expected {expected}, found {found}")


def until(what, seconds, question, pause=0.05):
    """Polls until the result is true, and returns it. It gives up after HANG, or after the seconds if those are more."""
    seconds = max(seconds, HANG)
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(pause)


def told(done):
    """The ends of what a program printed."""
    return "".join((text or b"").decode(errors="replace")[-1500:] for text in (done.stdout, done.stderr))


def run(*words, environment=None, statuses=(0,), seconds=HANG):
    """Runs a program to its end and returns its output; with `seconds` None it may take as long as it does."""
    command = f"`{' '.join(map(str, words))[:300]}`"
    try:
        done = subprocess.run(
            [str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=seconds and max(seconds, HANG))
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{command} did not end within {late.timeout} s: {told(late)}") from None
    check(done.returncode in statuses, f"{command} ended with {done.returncode}: {told(done)}")
    return done.stdout


class Process:
    """A program that runs in a separate process group during the test, and is killed when the test ends."""

    living = []

    def __init__(self, words, log, environment=None):
        self.log = log
        with open(log, "ab") as output:
            self.popen = subprocess.Popen(
                [str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True, preexec_fn=lambda: libc.prctl(DIE_WITH_PARENT, signal.SIGKILL))
        self.pid = self.popen.pid
        self.was_killed = False
        Process.living.append(self)

    @property
    def is_running(self):
        return self.popen.poll() is None

    def send(self, number):
        if self.is_running:
            os.kill(self.pid, number)

    def wait(self, seconds=HANG):
        """Waits for the end and returns the exit status, negative for a signal."""
        try:
            return self.popen.wait(max(seconds, HANG))
        except subprocess.TimeoutExpired:
            raise Failed(f"process {self.pid} did not end within {max(seconds, HANG)} s") from None

    def kill(self):
        """Kills the process with SIGKILL and waits for its end."""
        self.was_killed = self.is_running
        self.send(signal.SIGKILL)
        self.popen.wait()

    def clear(self):
        """Kills the remaining processes of the group."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait()

    def tail(self, lines=15):
        """The last lines of the log, after earlier ones that report an error."""
        path = pathlib.Path(self.log)
        found = path.read_text(errors="replace").splitlines() if path.exists() else []
        errors = [line for line in found[:-lines] if re.search(r'Fatal error|\*\*\* |"level":"(warning|error)"', line)]
        return "\n".join(errors[-5:] + found[-lines:])

    @property
    def name(self):
        return pathlib.Path(self.log).stem

    def fate(self):
        """Whether the process runs, or how it ended: a signal that the test did not send is a crash."""
        status = self.popen.poll()
        if status is None:
            return "runs"
        if status >= 0:
            return f"ended with {status}"
        return f"ended by {signal.Signals(-status).name}" + (" of the test" if self.was_killed else "")

    @classmethod
    def last_lines(cls):
        """What became of each process, and the ends of their logs: pairs of a title and a text."""
        fates = [f"{process.name} ({process.pid}) {process.fate()}" for process in cls.living]
        # A process that is started again goes on in the same log.
        logs = {process.log: process for process in cls.living}
        return [("processes", "\n".join(fates)), *((f"log of {process.name}", process.tail()) for process in logs.values())]


def children(pid):
    """The slots' child processes of a process: {pid: program}."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            program = os.path.basename((folder / "cmdline").read_bytes().split(b"\0")[0].decode())
        except (OSError, IndexError):
            continue
        if parent == pid and program in CHILDREN:
            found[int(folder.name)] = program
    return found


def free_port():
    """A port that is given to nobody else until this process ends: its reservation is a name that one process at a time can have.

    It is below those that Linux gives to clients, and to servers that ask for any.
    """
    first, ports = random.SystemRandom().randrange(1 << 20), range(10_000, 32_768)
    for number in range(len(ports)):
        port = ports[(first + number) % len(ports)]
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0respool-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("", port))
        except OSError:
            reservation.close()
            continue
        reservations.append(reservation)
        return port
    raise Failed("all ports are in use")


def cpu_seconds(pid):
    """The CPU time that a process has used."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
