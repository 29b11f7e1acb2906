"""Lost replies, servers that restart, and services that do not respond."""

from __future__ import annotations

import threading
import time
from typing import Any, List

import pytest
from installation import Installation, Loser
from kinds import Calls, calls
from processes import until

from respool import AccessDenied, Client, Event, Gap, RequestFailed, Unreachable

INBOX = "respool:{default}:in"
EVENTS = "respool:{default}:events"


def test_a_push_over_redis_whose_reply_was_lost_is_repeated_only_with_dedup(own: Installation, kind: str) -> None:
    loser = Loser(own.redis.port, b"XADD")
    client = Calls(kind, f"redis://127.0.0.1:{loser.port}")
    with pytest.raises(Unreachable) as failure:
        client.push(own.fields())
    assert failure.value.may_have_pushed and loser.lost.is_set()
    assert own.redis("XLEN", INBOX) == 1
    client.close()
    # Two entries with the same key become one job when a worker admits them.
    loser = Loser(own.redis.port, b"XADD")
    client = Calls(kind, f"redis://127.0.0.1:{loser.port}")
    id = client.push(own.fields(dedup="once"))
    assert own.redis("XLEN", INBOX) == 3 and loser.lost.is_set()
    own.start_worker()
    client.wait(id, timeout=60)
    assert own.redis("HGET", "respool:{default}:meta", "seq") == "2"
    client.close()


def test_a_push_over_http_whose_response_was_lost_is_repeated_once(own: Installation, kind: str) -> None:
    own.start_server()
    loser = Loser(own.port, b"POST /v1/jobs")
    client = Calls(kind, f"http://127.0.0.1:{loser.port}", token="push-secret")
    ids = client.push_many([own.fields(), own.fields()])
    assert loser.lost.is_set() and len(ids) == 2
    assert own.redis("HGET", "respool:{default}:meta", "seq") == "2"
    assert client.push(own.fields(), idempotency_key="order-1") == client.push(own.fields(), idempotency_key="order-1")
    with pytest.raises(RequestFailed) as refusal:
        client.push(own.fields(end=1), idempotency_key="order-1")
    assert refusal.value.code == "key_reused"
    client.close()


def follow(client: Calls, changes: List[Any], count: int, job: Any = None) -> threading.Thread:
    """Collects changes while the test does something else."""
    def run() -> None:
        changes.extend(client.take(count + 1, job)[1:])  # behind the first gap
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(1)
    return thread


@pytest.mark.parametrize("way", ["redis", "http"])
def test_events_go_on_after_a_restart_and_none_is_lost(own: Installation, kind: str, way: str) -> None:
    own.start_server()
    client, changes = calls(f"{kind}-{way}", own), []  # type: ignore[var-annotated]
    producer = calls("blocking-redis", own)
    own.service.push(own.fields(delay="0.1"))
    thread = follow(client, changes, 6)
    own.start_worker()
    deadline = time.monotonic() + 60
    while len(own.redis("XRANGE", EVENTS, "-", "+")) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    if way == "http":
        own.server.kill()
    else:
        own.redis.kill()
        own.redis.start()
    id = producer.push(own.fields())
    assert producer.wait(id, timeout=60).state == "completed"
    if way == "http":
        own.start_server()
    thread.join(60)
    assert not thread.is_alive() and all(isinstance(change, Event) for change in changes)
    assert [change.n for change in changes] == list(range(1, 7))
    producer.close()


def test_a_redis_that_lost_its_data_is_a_gap(kind: str) -> None:
    own = Installation()
    try:
        own.start_worker()
        client, producer = calls(f"{kind}-redis", own), calls("blocking-redis", own)
        producer.wait(producer.push(own.fields()), timeout=60)
        changes: List[Any] = []
        thread = follow(client, changes, 1)
        own.redis.kill()
        own.redis.start()
        thread.join(60)
        assert changes == [Gap()]
        producer.wait(producer.push(own.fields()), timeout=60)
    finally:
        own.clear()


def test_events_that_are_gone_before_they_are_read_are_a_gap(shared: Installation, kind: str) -> None:
    client = calls(f"{kind}-redis", shared)
    changes = client.events()
    assert next(changes) == Gap()
    id = client.push(shared.fields())
    client.wait(id, timeout=60)
    shared.redis("XTRIM", EVENTS, "MAXLEN", 1)
    assert next(changes) == Gap()
    event = next(changes)
    assert (event.job, event.state) == (id, "completed")
    changes.close()
    client.close()


def test_a_job_is_waited_for_over_a_restart_of_redis(own: Installation, kind: str) -> None:
    client = calls(f"{kind}-redis", own)
    id = client.push(own.fields())
    ended: List[Any] = []
    thread = threading.Thread(target=lambda: ended.append(client.wait(id, timeout=60)), daemon=True)
    thread.start()
    time.sleep(0.5)
    own.redis.kill()
    time.sleep(0.5)
    own.redis.start()
    own.start_worker()
    thread.join(60)
    assert [job.state for job in ended] == ["completed"]


def test_a_full_or_absent_redis_is_unreachable(own: Installation, kind: str) -> None:
    client = Calls(kind, own.redis_url, reconnect_timeout=0.5)
    own.redis("CONFIG", "SET", "maxmemory", 1)
    with pytest.raises(Unreachable) as failure:
        client.push(own.fields())
    assert not failure.value.may_have_pushed
    own.redis("CONFIG", "SET", "maxmemory", 0)
    client.push_many([own.fields(), own.fields()])
    own.redis.kill()
    for call in (lambda: client.push(own.fields()), lambda: client.status("1-1"), lambda: client.take(1)):
        with pytest.raises(Unreachable) as failure:
            call()
        assert not failure.value.may_have_pushed
    client.close()


def test_an_absent_server_is_unreachable(own: Installation, kind: str) -> None:
    client = Calls(kind, own.http, reconnect_timeout=0.5)
    for call in (lambda: client.push(own.fields()), lambda: client.status("1-1"), lambda: client.take(1)):
        with pytest.raises(Unreachable) as failure:
            call()
        assert not failure.value.may_have_pushed
    client.close()


def test_a_client_without_the_right_is_denied(shared: Installation, kind: str) -> None:
    reader, nobody = Calls(kind, shared.http, token="read-secret"), Calls(kind, shared.http)
    for client in (reader, nobody):
        with pytest.raises(AccessDenied):
            client.push(shared.fields())
        client.close()
    shared.redis("ACL", "SETUSER", "producer", "on", ">secret", "resetkeys", "~" + INBOX, "resetchannels", "-@all", "+xadd")
    url = f"redis://producer:secret@127.0.0.1:{shared.redis.port}"
    client = Calls(kind, url)
    client.push_many([shared.fields(delay=3600), shared.fields(delay=3600)])
    with pytest.raises(AccessDenied):
        client.status("1-1")
    client.close()
    client = Calls(kind, url.replace("secret", "wrong"))
    with pytest.raises(AccessDenied):
        client.push(shared.fields())
    client.close()
    with pytest.raises(ValueError, match="redis, rediss, unix, http or https"):
        Calls(kind, "redis+cluster://127.0.0.1")


def test_a_duplicate_that_is_admitted_before_the_position_is_found(own: Installation) -> None:
    client = Client(own.redis_url)
    queue: Any = client._calls._transport
    position = queue._position
    first, again = (client.push(own.fields(dedup="one", delay=2)) for _ in range(2))

    async def late(after: Any) -> Any:
        own.start_worker()
        until("the duplicate is admitted", 20, lambda: own.redis("EXISTS", "respool:{default}:alias:" + again))
        return await position(after)

    queue._position = late
    assert client.wait(again, timeout=20).id == first
    client.close()
