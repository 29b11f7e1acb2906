"""The Python of the README runs as it is pasted."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT
from installation import Installation

BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "clients/python/README.md").read_text(), re.MULTILINE | re.DOTALL)
#: What each block prints.
PRINTED = [r".*/[^/]+\.mp3 3 s\n", r"(?:\S+ completed\n){2}", r"(?s).*\S+ completed None None\n"]


@pytest.mark.parametrize("block, printed", list(zip(BLOCKS, PRINTED)), ids=["blocking", "asyncio", "events"])
def test_a_block_runs_as_it_is_pasted(shared: Installation, block: str, printed: str) -> None:
    assert len(BLOCKS) == len(PRINTED)
    for old, new in (("http://127.0.0.1:8080", shared.http), ("redis://127.0.0.1:6379", shared.redis_url), ('"…"', '"operate-secret"'),
                     ("https://example.org/talk.flac", shared.source)):
        block = block.replace(old, new)
    # The events of a job that waits a moment are not over before they are read.
    block = block.replace('"wav"}', '"wav", "delay": 1}')
    done = subprocess.run([sys.executable, "-B", "-W", "error", "-c", block], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(printed, done.stdout), done.stdout
