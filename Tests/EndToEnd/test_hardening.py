"""The programs lie anywhere in memory, bind at once and protect their stacks; those that read untrusted bytes are fortified."""

import pytest
from service import PROGRAMS, check, run

WANTED = ("Position Independent Executable: yes", "Stack protected: yes", "Read-only relocations: yes", "Immediate binding: yes")
# The checked functions of glibc.
FORTIFIED = "Fortify Source functions: yes"


@pytest.mark.long
@pytest.mark.parametrize("program", ["respool", "respoold", "respool-transfer", "respool-transcode"])
def test_a_released_program_is_hardened(figures, program):
    # Its status says that not every check passed, among them some that are not wanted here.
    report = run("hardening-check", PROGRAMS / program, statuses=range(256)).decode()
    wanted = (*WANTED, FORTIFIED) if program.startswith("respool-") else WANTED
    missing = [line for line in wanted if line not in report]
    check(not missing, f"{program} lacks {missing}:\n{report}")
    figures(f"{len(wanted)} protections")
