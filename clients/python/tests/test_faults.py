"""Lost replies, servers that restart, and services that do not respond."""

from __future__ import annotations

import threading
import time
from typing import Any, List

import pytest
from installation import Installation, Loser
from kinds import Calls, calls
from processes import until

from respool import AccessDenied, Client, Event, Gap, NoSuchJob, RequestFailed, RespoolError, Unreachable, api
from respool.eventstream import EventStream

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
    has_begun = threading.Event()

    def run() -> None:
        received = client.events(job)
        try:
            assert next(received) == Gap()
            has_begun.set()
            changes.extend(next(received) for _ in range(count))
        finally:
            received.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert has_begun.wait(60)
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


@pytest.mark.parametrize("end", ["silence", "cut"])
def test_an_event_stream_that_was_quiet_for_long_is_opened_again(
        shared: Installation, kind: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    producer = calls("blocking-http", shared)
    proxy = Loser(shared.port)
    client = Calls(kind, f"http://127.0.0.1:{proxy.port}", token="read-secret", reconnect_timeout=1)
    changes = client.events()
    assert next(changes) == Gap()
    first = producer.push(shared.fields(delay=3600))
    assert any(isinstance(change, Event) and change.job == first for change in changes)
    proxy.silence()
    # Longer than the client tries to connect again: that time begins when the stream is lost.
    if end == "silence":
        monkeypatch.setattr(api, "_SILENCE", 1.5)
    else:
        threading.Timer(1.5, proxy.cut).start()
    second = producer.push(shared.fields(delay=3600))
    assert any(isinstance(change, Event) and change.job == second for change in changes)
    changes.close()
    for id in (first, second):
        producer.cancel(id)
    client.close()
    producer.close()


@pytest.mark.parametrize("greeting", ["7-1", "9-0"])
def test_an_event_stream_goes_on_whichever_entry_the_server_greets_with(greeting: str) -> None:
    stream = EventStream("7-1")
    hello = f"id: {greeting}\nevent: hello\ndata: {{}}\n\n".encode()
    assert stream.read(hello) == [] and stream.position == "7-1"
    stream.reconnect()
    event = b'id: 8-0\nevent: job\ndata: {"n":2,"id":"a","state":"waiting"}\n\n'
    assert [change.n for change in stream.read(hello + event) if isinstance(change, Event)] == [2]
    assert stream.position == "8-0"
    # Behind a comment comes nothing that was stored before.
    stream.read(b": comment\n\n")
    assert stream.position == max("8-0", greeting)
    stream = EventStream("7-1")
    assert stream.read(hello + b"event: gap\ndata: {}\n\n") == [Gap()] and stream.position == greeting


def test_a_connection_is_used_again_after_a_refusal(shared: Installation, kind: str) -> None:
    client = Calls(kind, shared.http, token="operate-secret")
    transport: Any = getattr(client._client, "_calls", client._client)._transport
    id = client.push(shared.fields(delay=3600))
    idle = list(transport._idle)
    for call in (lambda: client.status("1-1"), lambda: client.push({"fromat": "mp3"}), lambda: client.push(shared.fields(fromat=1))):
        with pytest.raises(RespoolError):
            call()
        assert transport._idle == idle and is_open(idle[0])
    assert client.status(id).id == id and transport._idle == idle
    assert client.cancel(id) == "cancelled"
    client.close()


def test_a_refusal_in_one_thread_leaves_the_connections_of_the_others(shared: Installation) -> None:
    client = Client(shared.http, token="operate-secret")
    transport: Any = client._calls._transport
    id = client.push(shared.fields(delay=3600))
    read: List[str] = []

    def refused() -> None:
        for _ in range(100):
            with pytest.raises(NoSuchJob):
                client.status("1-1")

    threads = [threading.Thread(target=refused), threading.Thread(target=lambda: read.extend(client.status(id).id for _ in range(100)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert read == [id] * 100
    assert 1 <= len(transport._idle) <= 2 and all(is_open(connection) for connection in transport._idle)
    client.cancel(id)
    client.close()


def is_open(connection: Any) -> bool:
    stream = connection._stream
    return bool(stream._link.fileno() >= 0) if hasattr(stream, "_link") else not stream._writer.is_closing()


def test_the_ids_of_jobs_that_were_pushed_before_a_refusal_are_kept(own: Installation, kind: str) -> None:
    own.start_server()
    client = Calls(kind, own.http, token="push-secret")
    client.push(own.fields(), idempotency_key="order.1")
    with pytest.raises(RequestFailed) as refusal:
        client.push_many([own.fields()] * 1001, idempotency_key="order")
    assert refusal.value.code == "key_reused"
    assert len(set(refusal.value.pushed)) == 1000
    assert own.redis("HGET", "respool:{default}:meta", "seq") == "1001"
    client.close()
    # A stream has a last id: behind this one are 150 more.
    newest = 2**64 - 1
    own.redis("DEL", INBOX)
    own.redis("XADD", INBOX, f"{newest}-{newest - 150}", "_bell", "1")
    client = Calls(kind, own.redis_url)
    with pytest.raises(RequestFailed) as refusal:
        client.push_many([own.fields()] * 200)
    assert refusal.value.pushed == [f"{newest}-{newest - 149 + place}" for place in range(150)]
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
