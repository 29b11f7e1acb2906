"""The resources of a slot's processes: heaps, memory, descriptors and threads."""

import os
import pathlib
import re
import shutil
import signal
import time
import typing

from processes import CHILDREN
from service import PROGRAMS, ROOT, children, equal, run, until


def watched(service):
    """The command, in a folder where the slots' children report the size of their heaps."""
    folder = pathlib.Path(service.folder) / "programs"
    folder.mkdir()
    run("clang", "-O1", "-Wall", "-Werror", "-fPIC", "-shared", "-o", folder / "heap.so", ROOT / "Tests/Preloads/heap.c")
    for name in ("respool", "respoold"):
        shutil.copy(PROGRAMS / name, folder)
    for name in CHILDREN:
        (folder / name).write_text(f'#!/bin/sh\nexec env LD_PRELOAD={folder}/heap.so {PROGRAMS}/{name} "$@"\n')
        (folder / name).chmod(0o755)
    return folder / "respool"


class Child(typing.NamedTuple):
    """The resources of a child while it is idle."""

    program: str
    pid: int
    heap: int
    kilobytes: int
    descriptors: int
    threads: int


def heap(worker, pid):
    """Bytes in use, which the child writes to its standard error on SIGUSR1 and the worker logs."""
    def told():
        return re.findall(rf"heap of {pid}: (\d+)\b", pathlib.Path(worker.log).read_text(errors="replace"))
    before = len(told())
    os.kill(pid, signal.SIGUSR1)
    return int(until(f"{pid} tells of its heap", 10, lambda: told()[before:])[0])


def kilobytes(pid):
    """The anonymous memory of a process, without the pages of its program file, whose count grows as they are first used."""
    return int(re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def look(pid):
    """The states of the threads of a process, and how often each has run."""
    tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    return ({(task / "stat").read_text().rsplit(")", 1)[1].split()[0] for task in tasks},
            [(task / "schedstat").read_text().split()[2] for task in tasks])


def are_idle(worker):
    """Whether the children wait for their next job: nobody has anything to do, and no child has run for a moment."""
    pids = list(children(worker.pid))
    before = [look(pid) for pid in pids]
    time.sleep(0.1)
    return [look(pid) for pid in pids] == before and all(states == {"S"} for states, _ in [*before, look(worker.pid)])


def measure(worker):
    """The children of the worker's only slot, which has two pairs, by program and process id."""
    until("the children are idle", 20, lambda: are_idle(worker))
    found = [Child(program, pid, heap(worker, pid), kilobytes(pid), descriptors(pid), threads(pid))
             for pid, program in children(worker.pid).items()]
    equal(len(found), 4, "children of the slot")
    return sorted(found)
