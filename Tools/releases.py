#!/usr/bin/env -S python3 -B
"""Builds the programs of the releases that Tests/EndToEnd/releases names, from their commits.

    Tools/releases.py           builds those that are missing; takes minutes for each

They are kept in ~/.cache/respool/releases (or below XDG_CACHE_HOME), where all clones find them.
A release whose commit is not in the clone, because it is shallow or no clone at all, or that does not build on this suite, is left
out with a message. Its programs are kept, its sources and objects are not.
"""
import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "respool/releases"
PROGRAMS = ("respool", "respoold", "respool-transfer", "respool-transcode")


class Unavailable(Exception):
    """A release that cannot be built here, with the reason."""


def listed():
    """The commit of each release, and the Debian suites on which it builds, by its version."""
    lines = (ROOT / "Tests/EndToEnd/releases").read_text().splitlines()
    fields = [line.split() for line in lines if line and not line.startswith("#")]
    return {version: (commit, suites) for version, commit, *suites in fields}


def programs(version):
    """The folder with the programs of a release, which are built if an earlier call did not."""
    commit, suites = listed()[version]
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME")
    if suite not in suites:
        raise Unavailable(f"{version} is not built on {suite}, only on {', '.join(suites)}")
    folder = FOLDER / version
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built(folder, commit):
            if git("cat-file", "-e", f"{commit}^{{commit}}").returncode != 0:
                raise Unavailable(f"the commit of {version}, {commit[:12]}, is not in this clone: `git fetch --unshallow` brings it")
            build(folder, commit)
    return folder


def is_built(folder, commit):
    path = folder / "build"
    return path.exists() and path.read_text() == name(commit)


def name(commit):
    """What tells a build from another: the commit, and the machine and the distribution whose libraries it is linked to."""
    system = platform.freedesktop_os_release()
    return f"{commit} {platform.machine()} {system['ID']} {system.get('VERSION_ID', '')}"


def git(*words, **options):
    return subprocess.run(["git", "-C", ROOT, *words], stderr=subprocess.DEVNULL, **options)


def build(folder, commit):
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=f"{folder.name}-") as place:
        archive = git("archive", "--format=tar", commit, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", place], input=archive, check=True)
        for program in PROGRAMS:
            # How they behave matters, not how fast they are, and this build takes less time than one for release.
            words = ["swift", "build", "--static-swift-stdlib", "--disable-index-store", "-debug-info-format", "none", "--product", program]
            done = subprocess.run(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(f"`{' '.join(words)}` of {folder.name} failed:\n{done.stdout[-4000:]}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for program in PROGRAMS:
            shutil.copy2(f"{place}/.build/debug/{program}", folder)
    # Last, so that an interrupted run is repeated.
    (folder / "build").write_text(name(commit))


def main():
    for version, (commit, _) in listed().items():
        begin, was_built = time.monotonic(), is_built(FOLDER / version, commit)
        try:
            folder = os.path.relpath(programs(version))
        except Unavailable as reason:
            print(f"Left out: {reason}")
            continue
        if not was_built:
            print(f"{folder}: the programs of {version}, built in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
