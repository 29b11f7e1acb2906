"""A machine with systemd as its first process: a container over the files of this system, which stay as they are."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
from processes import Process, run, until
from service import PROGRAMS, ROOT

UNITS = ROOT / "deploy/systemd"
NAMES = ("respool-worker@.service", "respool-serve.service")
CALLS = "landlock_create_ruleset landlock_add_rule landlock_restrict_self @memlock"
PARTS = ("respoold", "respool-transfer", "respool-transcode")


class Machine:
    """Has the programs and units as an installation has them, and these files. Calling it runs a program in it; `clear` ends it."""

    def __init__(self, service, files):
        if os.geteuid() or not shutil.which("systemd-nspawn"):
            pytest.skip("needs root, and systemd-nspawn of Debian's package systemd-container")
        self.folder = tempfile.mkdtemp(prefix="respool-machine.", dir="/run")
        root = f"{self.folder}/root"
        # What is written goes to memory. The mounts end with the mount namespace.
        lines = [
            "set -e", f"mount -t tmpfs tmpfs {self.folder}", f"cd {self.folder}", "mkdir upper work root",
            "mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root", "cd root",
            # Services of this system are not started.
            "rm -f etc/systemd/system/*.wants/*.service etc/systemd/system/*.wants/*.socket",
            "mkdir -p usr/local/libexec/respool srv/test etc/respool", f"install -s {PROGRAMS}/respool usr/local/bin/"]
        lines += [f"install -s {PROGRAMS}/{name} usr/local/libexec/respool/" for name in PARTS]
        lines += [f"install -m 644 '{UNITS}/{name}' etc/systemd/system/" for name in NAMES]
        lines += [f"install -m 644 {UNITS}/respool.{kind} usr/lib/{kind}.d/respool.conf" for kind in ("sysusers", "tmpfiles")]
        for number, (path, text) in enumerate(files.items()):
            pathlib.Path(service.folder, f"file.{number}").write_text(text)
            lines.append(f"install -D -m 644 {service.folder}/file.{number} '{path.lstrip('/')}'")
        # Its own filter of system calls, to which that of a unit is added, has neither of these.
        lines.append(f"exec systemd-nspawn --quiet --register=no --keep-unit --directory=. --machine=respool-{os.getpid()} "
                     f"--system-call-filter='{CALLS}' --bind={service.folder}:/srv/test --boot systemd.unit=basic.target")
        script = pathlib.Path(service.folder, "machine.sh")
        script.write_text("\n".join(lines) + "\n")
        # Without it, systemd in the container does not learn when the last process of a unit has ended.
        environment = os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
        self.process = Process(["unshare", "--mount", "sh", script], f"{service.folder}/machine.log", environment)
        self.leader = None
        until("systemd runs in the container", 60, self.has_booted, 0.2)

    def has_booted(self):
        if not self.process.is_running:
            pytest.skip(f"systemd cannot run in a container here: {self.process.tail(3)}")
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.leader = children[0] if children else None
        return self.leader and b"running" in self("systemctl", "is-system-running", statuses=range(256))

    def __call__(self, *words, **options):
        """Runs a program in the container and returns what it prints."""
        return run("nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--", *words, **options)

    def property(self, unit, name):
        return self("systemctl", "show", "--value", "-p", name, unit).decode().strip()

    def journal(self, unit):
        return self("journalctl", "--no-pager", "-o", "cat", "-u", unit, statuses=range(256)).decode(errors="replace")

    def clear(self):
        # systemd halts on SIGRTMIN+3.
        if self.leader and self.process.is_running:
            os.kill(int(self.leader), signal.SIGRTMIN + 3)
            try:
                self.process.popen.wait(30)
            except subprocess.TimeoutExpired:
                pass
        self.process.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
