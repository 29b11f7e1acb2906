"""Jobs that are pushed, waited for, followed and cancelled, with each client over each way."""

from __future__ import annotations

import os
import uuid
from typing import Any

import pytest
from installation import Installation
from kinds import Calls, calls
from processes import until

from respool import Event, Gap, InvalidJob, JobCancelled, JobFailed, NoSuchJob, TooLate, WaitTimeout

PREFIX = "respool:{default}:"


def test_a_job_is_pushed_and_waited_for_and_both_ways_show_the_same(client: Calls, shared: Installation) -> None:
    id = client.push(shared.fields(start=1, end=2.5, metadata={"title": "ä"}, threads=1))
    job = client.wait(id, timeout=60)
    assert (job.id, job.state, job.attempt, job.error) == (id, "completed", 1, None)
    assert job.outputs[0]["duration"] == 1.5
    assert os.path.exists(job.outputs[0]["url"].removeprefix("file://"))
    assert job.created <= job.started <= job.finished
    other = calls("blocking-redis" if client.is_http else "blocking-http", shared)
    assert other.status(id) == job == client.status(id)
    other.close()


def test_a_failed_job_raises_its_code(client: Calls, shared: Installation) -> None:
    id = client.push({"source": shared.service.source("missing.wav"), "format": "mp3", "attempts": 1})
    with pytest.raises(JobFailed) as failure:
        client.wait(id, timeout=60)
    assert failure.value.code == "source_not_found"
    assert "missing.wav" in failure.value.message and failure.value.job.id == id


def test_an_invalid_job_names_its_field(client: Calls, shared: Installation) -> None:
    wrong: Any = shared.fields(fromat="mp3")
    if client.is_http:
        with pytest.raises(InvalidJob) as refusal:
            client.push(wrong)
        assert [error.pointer for error in refusal.value.errors] == ["/fromat"]
        assert "did you mean" in refusal.value.errors[0].message
    else:
        with pytest.raises(JobFailed) as failure:
            client.wait(client.push(wrong), timeout=60)
        assert failure.value.code == "invalid_request"
        with pytest.raises(InvalidJob) as refusal:
            client.push(shared.fields(metadata={"comment": "x" * 20000}))
        assert refusal.value.errors[0].pointer == "/metadata"
    with pytest.raises(InvalidJob):
        client.push(shared.fields(gain=float("nan")))


def test_many_jobs_are_pushed_in_their_order(client: Calls, shared: Installation) -> None:
    group = f"many-{uuid.uuid4()}"
    ids = client.push_many([shared.fields(delay=3600, group=group, limit_key=f"k{number}") for number in range(1200)])
    assert len(set(ids)) == 1200
    until("all are admitted", 60, lambda: client.status(ids[1199]).state == "delayed")
    assert client.status(ids[0]).group == group
    for number in (0, 999, 1000, 1199):
        assert shared.redis("HGET", f"{PREFIX}job:{ids[number]}", "limit_key") == f"k{number}"
    if client.is_http:
        jobs = [shared.fields(delay=3600, group=group) for _ in range(1002)]
        jobs[1001]["fromat"] = "mp3"
        with pytest.raises(InvalidJob) as refusal:
            client.push_many(jobs)
        assert refusal.value.errors[0].pointer == "/jobs/1001/fromat"
        assert len(refusal.value.pushed) == 1000
    shared.service.respool("cancel", "--group", group, "--yes")


def test_jobs_are_waited_for_together(client: Calls, shared: Installation) -> None:
    ids = client.push_many([shared.fields(), {"source": shared.service.source("no.wav"), "format": "mp3"}, shared.fields(end=1)])
    ended = {job.id: job.state for job in client.wait_many(ids, timeout=60)}
    assert ended == {ids[0]: "completed", ids[1]: "failed", ids[2]: "completed"}


def test_a_job_is_cancelled(client: Calls, shared: Installation) -> None:
    id = client.push(shared.fields(delay=3600))
    with pytest.raises(WaitTimeout):
        client.wait(id, timeout=0.3)
    assert client.cancel(id) == "cancelled"
    with pytest.raises(JobCancelled):
        client.wait(id)
    with pytest.raises(TooLate):
        client.cancel(id)
    for call in (client.cancel, client.status, client.wait):
        with pytest.raises(NoSuchJob):
            call("1-1")


def test_a_duplicate_stands_for_the_first_job(client: Calls, shared: Installation) -> None:
    fields = shared.fields(dedup=str(uuid.uuid4()), delay=1)
    first, again = client.push(fields), client.push(fields)
    assert client.wait(again, timeout=60).id == first
    assert [job.id for job in client.wait_many([first, again])] == [first]


def test_events_continue_after_an_id(client: Calls, shared: Installation) -> None:
    client.wait(client.push(shared.fields()), timeout=60)
    last = shared.redis("XREVRANGE", PREFIX + "events", "+", "-", "COUNT", 1)[0][0]
    id = client.push(shared.fields())
    client.wait(id, timeout=60)
    count = sum(dict(zip(fields[::2], fields[1::2]))["id"] == id
                for _, fields in shared.redis("XRANGE", PREFIX + "events", "(" + last, "+"))
    events = client.take(count, job=id, after=last)
    assert all(isinstance(event, Event) and event.job == id for event in events)
    assert events[0].state == "waiting" and events[-1].state == "completed"
    assert {event.phase for event in events} >= {"publishing"}
    assert client.take(count - 2, job=id, after=events[1].id) == events[2:]


def test_lost_events_are_told(client: Calls, shared: Installation) -> None:
    client.wait(client.push(shared.fields()), timeout=60)
    last = shared.redis("XREVRANGE", PREFIX + "events", "+", "-", "COUNT", 1)[0][0]
    client.wait(client.push(shared.fields()), timeout=60)
    shared.redis("XTRIM", PREFIX + "events", "MAXLEN", 1)
    assert client.take(1, after=last) == [Gap()]
