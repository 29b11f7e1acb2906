"""The types of the package: those of the fields are those of the programs, and a type checker finds what is wrong."""

from __future__ import annotations

import ast
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT
from installation import Installation

PACKAGE = ROOT / "clients/python"
RIGHT = """
from typing import List
from respool import AsyncClient, Client, Event, Gap, Job, JobFields

def right(client: Client) -> List[str]:
    fields: JobFields = {"source": "s", "format": "mp3", "end": 60, "metadata": {"title": ["a", "b"]}, "atomic": True}
    job: Job = client.wait(client.push(fields))
    for change in client.events():
        if isinstance(change, Gap):
            continue
        event: Event = change
    return client.push_many([fields])

async def also(client: AsyncClient) -> Job:
    return await client.wait(await client.push({"source": "s", "format": "mp3"}))
"""
WRONG = [
    'client.push({"source": "s", "fromat": "mp3"})', 'client.push({"format": "mp3"})', 'client.push({"source": "s", "end": object()})',
    "client.wait(client.status('1-1'))", "next(client.events()).state", "client.wait('1-1').outputs.url",
]


def test_the_fields_are_those_of_the_programs(shared: Installation) -> None:
    words = [sys.executable, "-B", str(ROOT / "Tools/client-fields"), shared.http]
    done = subprocess.run(words, env={**os.environ, "RESPOOL_TOKEN": "read-secret"}, capture_output=True, text=True)
    assert done.returncode == 0, f"run Tools/client-fields URL --write: {done.stdout}{done.stderr}"


def test_the_package_needs_python_3_9_alone() -> None:
    for path in sorted((PACKAGE / "src").rglob("*.py")):
        ast.parse(path.read_text(), feature_version=(3, 9))


def test_mypy_finds_what_is_wrong_and_nothing_else(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    from mypy import api

    lines = ["from respool import Client", "def wrong(client: Client) -> None:", *(f"    {line}" for line in WRONG)]
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("\n".join(lines) + "\n")
    settings = ["--strict", "--config-file=", f"--cache-dir={tmp_path}/cache"]
    output, _, status = api.run([*settings, str(tmp_path / "right.py")])
    assert status == 0, output
    output, _, _ = api.run([*settings, str(tmp_path / "wrong.py")])
    found = {int(line.split(":")[1]) for line in output.splitlines() if ": error:" in line}
    assert found == set(range(3, 3 + len(WRONG))), output
    output, _, status = api.run(["--strict", "--config-file=", f"--cache-dir={tmp_path}/cache", str(PACKAGE / "src")])
    assert status == 0, output
