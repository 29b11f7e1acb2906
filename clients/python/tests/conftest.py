"""A private Redis, a worker and a server for the tests of the client; the harness is that of the end-to-end tests."""

from __future__ import annotations

import hashlib
import pathlib
import sys
from typing import Any, Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd/harness"), str(ROOT / "Tools")]
sys.dont_write_bytecode = True

from installation import Installation  # noqa: E402
from kinds import KINDS, Calls, calls  # noqa: E402


@pytest.fixture(scope="session")
def shared() -> Iterator[Installation]:
    """An installation with a worker and a server that most tests share."""
    installation = Installation()
    installation.start_worker()
    installation.start_server()
    yield installation
    installation.clear()


@pytest.fixture
def own() -> Iterator[Installation]:
    """An installation whose Redis keeps its data, for tests that stop parts of it."""
    installation = Installation("--appendonly", "yes", "--appendfsync", "always")
    yield installation
    installation.clear()


@pytest.fixture(params=KINDS)
def client(request: Any, shared: Installation) -> Iterator[Calls]:
    """The blocking and the asyncio client, over Redis and over HTTP, with the same calls."""
    client = calls(request.param, shared)
    yield client
    client.close()


@pytest.fixture(params=["blocking", "asyncio"])
def kind(request: Any) -> str:
    return str(request.param)
