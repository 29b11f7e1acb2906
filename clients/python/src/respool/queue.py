"""The service behind an address of Redis: docs/protocol.md."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import program as respool_program
from .errors import NoSuchJob, RespoolError, Unreachable
from .event import Change, Event, Gap
from .job import Job
from .pushed import texts
from .redisconnection import Command, Lost, RedisConnection
from .redisjob import event_fields, queued, stored
from .runtime import Deadline, Runtime
from .transport import Backoff, Changes, Fields

_BATCH = 100
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")


class Queue:
    """A producer and follower of a queue in Redis."""

    def __init__(self, url: str, runtime: Runtime, queue: Optional[str], program: str, reconnect_timeout: float) -> None:
        self._name = queue or "default"
        if not _NAME.fullmatch(self._name):
            raise ValueError(f"the queue is named '{self._name}': use 1 to 64 of A-Z a-z 0-9 _ . -")
        self._prefix = "respool:{%s}:" % self._name
        self._url = url
        self._program = program
        self._runtime = runtime
        self._reconnect_timeout = reconnect_timeout
        self._redis = RedisConnection(url, runtime.is_async)

    async def push(self, jobs: Sequence[Fields], key: Optional[str], is_list: bool) -> List[str]:
        if key is not None:
            raise ValueError("idempotency_key is of the HTTP API: over Redis, give the job a `dedup` key")
        entries = [texts(job, f"/jobs/{index}" if is_list else "") for index, job in enumerate(jobs)]
        pushed: List[str] = []
        for first in range(0, len(entries), _BATCH):
            batch = entries[first:first + _BATCH]
            ids: List[Optional[str]] = [None] * len(batch)
            try:
                await self._push(batch, ids)
            except RespoolError as error:
                error.pushed = pushed + [id for id in ids if id]
                raise
            pushed += [id for id in ids if id]
        return pushed

    async def _push(self, entries: List[Dict[str, str]], ids: List[Optional[str]]) -> None:
        """Pushes jobs and stores their ids, each in the place of its job."""
        backoff = Backoff(self._runtime, self._reconnect_timeout)
        while missing := [index for index, id in enumerate(ids) if id is None]:
            failure: Optional[Lost] = None
            refusal: Optional[Exception] = None
            # The first one alone: while Redis is loading its data, it refuses a job, and might take the next one.
            if len(missing) == len(entries):
                missing = missing[:1]
            try:
                replies = await self._redis.ask_all([self._entry(entries[index]) for index in missing])
            except Lost as error:
                # Only a job with a `dedup` key may be pushed again if the reply was lost.
                if error.is_sent and not all(entries[index].get("dedup") for index in missing):
                    raise Unreachable(
                        f"the reply to XADD was lost ({error}): the jobs may have been pushed; with a `dedup` key, they are pushed again",
                        may_have_pushed=True) from None
                failure, replies = error, []
            for index, reply in zip(missing, replies):
                if isinstance(reply, Lost):
                    failure = reply
                elif isinstance(reply, Exception):
                    refusal = refusal or reply
                else:
                    ids[index] = reply
            if refusal:
                raise refusal
            if failure and not await backoff.wait():
                raise Unreachable(f"Redis takes no jobs: {failure}", may_have_pushed=failure.is_sent)

    def _entry(self, fields: Dict[str, str]) -> Command:
        return ("XADD", self._prefix + "in", "*", *(part for pair in fields.items() for part in pair))

    async def read(self, id: str) -> Job:
        # A job may be admitted between the reads of its hash and of the inbox, so its hash is read once more.
        for _ in range(2):
            first = await self._ask("GET", f"{self._prefix}alias:{id}") or id
            hash = await self._ask("HGETALL", f"{self._prefix}job:{first}")
            if hash.get("state"):
                result = None
                if hash["state"] in ("completed", "failed"):
                    result = await self._ask("GET", f"{self._prefix}result:{first}")
                return stored(first, hash, result)
            if _ENTRY.fullmatch(first):
                found = await self._ask("XRANGE", self._prefix + "in", first, first)
                if found and not {"_bell", "_seal"} & found[0][1].keys():
                    return queued(first, found[0][1])
        raise NoSuchJob(id)

    async def cancel(self, id: str) -> str:
        return await respool_program.cancel(self._runtime, self._program, self._url, self._name, (await self.read(id)).id)

    async def follow(self, job: Optional[str], after: Optional[str], deadline: Deadline) -> Changes:
        last, number = await self._position(after)
        # Behind the position: if the job turns out to be a duplicate later, there is an event.
        first = (await self.read(job)).id if job else None
        yield [] if last == after else [Gap()]
        while True:
            wait = max(1, round(deadline.left(1.0) * 1000))
            reply = await self._ask("XREAD", "COUNT", _BATCH, "BLOCK", wait, "STREAMS", self._prefix + "events", last)
            changes: List[Change] = []
            entries: List[Tuple[str, Dict[str, str]]] = reply[0][1] if reply else []
            for last, values in entries:
                if int(values["n"]) != number + 1:
                    changes.append(Gap())
                number = int(values["n"])
                event = Event(last, number, values["id"] or None, values["state"], event_fields(values))
                if job is None or event.job in (job, first):
                    changes.append(event)
                    if event.state == "duplicate" and event.job == first:
                        first = event.details.get("of", first)
            if not entries and await self._count() < number:
                # The server came back without its data.
                last, number = await self._position(None)
                changes = [Gap()]
            yield changes

    def watch(self, id: str, deadline: Deadline) -> Changes:
        return self.follow(id, None, deadline)

    async def _position(self, after: Optional[str]) -> Tuple[str, int]:
        """The id and the number of an entry, of the newest one if it is gone, or if none is given."""
        events = self._prefix + "events"
        found = await self._ask("XRANGE", events, after, after) if after else []
        if not found:
            count = await self._count()
            found = await self._ask("XREVRANGE", events, "+", "-", "COUNT", 1)
            if not found:
                return "0-0", count
        return found[0][0], int(found[0][1]["n"])

    async def _count(self) -> int:
        return int(await self._ask("HGET", self._prefix + "meta", "event") or 0)

    async def _ask(self, *words: Any) -> Any:
        """The reply to a command that only reads, which is repeated after a lost connection."""
        backoff = Backoff(self._runtime, self._reconnect_timeout)
        while True:
            try:
                return await self._redis.ask(*words)
            except Lost as error:
                if not await backoff.wait():
                    raise Unreachable(f"Redis does not respond: {error}") from None

    async def close(self) -> None:
        await self._redis.close()
