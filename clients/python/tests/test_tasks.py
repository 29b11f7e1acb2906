"""The asyncio client under many tasks, of which some are cancelled."""

from __future__ import annotations

import asyncio

import pytest
from installation import Installation

from respool import AsyncClient


@pytest.mark.parametrize("way", ["redis", "http"])
def test_a_cancelled_task_leaves_the_client_usable(shared: Installation, way: str) -> None:
    async def work() -> None:
        token = {"token": "operate-secret"} if way == "http" else {}
        async with AsyncClient(getattr(shared, "http" if way == "http" else "redis_url"), **token) as client:  # type: ignore[arg-type]
            ids = await client.push_many([shared.fields(delay=3600), shared.fields(delay=3600)])
            for delay in (0.01, 0.1, 0.3):
                for call in (client.wait(ids[0]), client.events().__anext__(), client.events(after="1-1").__anext__()):
                    task = asyncio.ensure_future(call)
                    await asyncio.sleep(delay)
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                for id in ids:
                    assert (await client.status(id)).id == id

    asyncio.run(work())


@pytest.mark.parametrize("way", ["redis", "http"])
def test_many_tasks_share_a_client(shared: Installation, way: str) -> None:
    async def work() -> None:
        token = {"token": "operate-secret"} if way == "http" else {}
        async with AsyncClient(getattr(shared, "http" if way == "http" else "redis_url"), **token) as client:  # type: ignore[arg-type]
            ids = await asyncio.gather(*(client.push(shared.fields(end=1)) for _ in range(60)))
            assert len(set(ids)) == 60
            jobs = await asyncio.gather(*(client.wait(id, timeout=60) for id in ids))
            assert [job.id for job in jobs] == list(ids)

    asyncio.run(work())
