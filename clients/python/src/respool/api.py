"""The service behind `http://` and `https://`: docs/http-api.md."""

from __future__ import annotations

import json
import ssl
import uuid
from typing import Any, List, Mapping, Optional, Sequence
from urllib.parse import quote, urlencode, urlsplit

from .batches import batches, moved
from .errors import InvalidJob, RespoolError, Unreachable
from .event import Change, Gap
from .eventstream import EventStream
from .http import Connection
from .job import Job
from .problem import problem_of, refusal
from .runtime import Address, Deadline, Runtime
from .transport import Backoff, Changes, Fields

#: Seconds without a byte after which a connection is lost.
_TIMEOUT = 20.0
#: The same of an event stream, which has a comment every 15 s.
_SILENCE = 40.0
_MAX_IDLE = 4


class API:
    """A client of `respool serve`."""

    def __init__(self, url: str, runtime: Runtime, queue: Optional[str], token: Optional[str], tls: Optional[ssl.SSLContext],
                 reconnect_timeout: float) -> None:
        parts = urlsplit(url)
        if not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("the address of the API must be https://HOST, optionally with a port and a path; give the token as `token`")
        is_secure = parts.scheme == "https"
        self._address = Address(
            parts.hostname, parts.port or (443 if is_secure else 80), (tls or ssl.create_default_context()) if is_secure else None)
        self._host = parts.netloc
        self._base = parts.path.rstrip("/")
        self._headers = {"User-Agent": "respool-python/0.1", "Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._query = {"queue": queue} if queue else {}
        self._runtime = runtime
        self._reconnect_timeout = reconnect_timeout
        self._idle: List[Connection] = []

    async def push(self, jobs: Sequence[Fields], key: Optional[str], is_list: bool) -> List[str]:
        key = key or str(uuid.uuid4())
        pushed: List[str] = []
        for number, batch in enumerate(batches(jobs)):
            body = b'{"jobs":[%s]}' % b",".join(batch) if is_list else batch[0]
            headers = {"Content-Type": "application/json", "Idempotency-Key": json.dumps(f"{key}.{number}" if number else key)}
            try:
                reply = await self._ask("POST", "/v1/jobs", body=body, headers=headers)
            except InvalidJob as error:
                raise InvalidJob([moved(part, len(pushed)) for part in error.errors], pushed) from None
            except RespoolError as error:
                error.pushed = pushed
                raise
            pushed += [job["id"] for job in (reply["jobs"] if is_list else [reply])]
        return pushed

    async def read(self, id: str) -> Job:
        return Job.from_record(await self._ask("GET", _path(id), id=id))

    async def cancel(self, id: str) -> str:
        result: str = (await self._ask("POST", _path(id) + "/cancel", id=id))["result"]
        return result

    async def follow(self, job: Optional[str], after: Optional[str], deadline: Deadline) -> Changes:
        stream = EventStream(after)
        backoff = Backoff(self._runtime, self._reconnect_timeout)
        while True:
            is_known = stream.position is not None
            stream.reconnect()
            query = {**({"job": job} if job else {}), **({"last_event_id": stream.position} if stream.position else {})}
            connection = await self._open(backoff, "GET", "/v1/events", query, id=job)
            has_data = False
            try:
                yield [] if is_known else [Gap()]
                silence = 0.0
                while silence < _SILENCE:
                    wait = deadline.left(1.0)
                    data = await connection.piece(wait)
                    if data == b"":
                        break
                    changes: List[Change] = stream.read(data) if data else []
                    has_data = has_data or bool(data)
                    silence = 0.0 if data else silence + max(wait, 0.01)
                    yield changes
            except OSError:
                pass
            finally:
                await connection.close()
            if has_data:
                backoff.restart()
            if not await backoff.wait():
                raise Unreachable("the event stream was lost, and the server does not respond")

    async def watch(self, id: str, deadline: Deadline) -> Changes:
        # An address has 16 event streams, and the server counts one until it notices that it was closed: many waits ask instead.
        pause = 0.1
        while True:
            yield [Gap()]
            await self._runtime.sleep(deadline.left(pause))
            pause = min(2.0, pause * 1.3)

    async def _ask(self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None,
                   id: Optional[str] = None) -> Any:
        """The JSON of a response. Requests are repeated: reading again changes nothing, and a push has a key."""
        backoff = Backoff(self._runtime, self._reconnect_timeout)
        connection = await self._open(backoff, method, path, {}, body, headers, id)
        while True:
            try:
                data = await connection.body(_TIMEOUT)
                break
            except OSError:
                await connection.close()
                if not await backoff.wait():
                    raise Unreachable("the connection was lost in the middle of a response", may_have_pushed=True) from None
                connection = await self._open(backoff, method, path, {}, body, headers, id)
            except BaseException:
                await connection.close()
                raise
        await self._put_back(connection)
        return json.loads(data)

    async def _open(self, backoff: Backoff, method: str, path: str, query: Mapping[str, str], body: Optional[bytes] = None,
                    headers: Optional[Mapping[str, str]] = None, id: Optional[str] = None) -> Connection:
        """Sends a request until it gets a response, and returns the connection with the body of a good one."""
        target = self._base + path
        if query := {**self._query, **query}:
            target += "?" + urlencode(query)
        is_sent = False
        while True:
            pause = 0.0
            connection: Optional[Connection] = None
            try:
                try:
                    connection, is_new = self._idle.pop(), False
                except IndexError:
                    connection, is_new = await self._connect(), True
                is_sent = True
                await connection.request(method, target, {**self._headers, **(headers or {})}, body, _TIMEOUT)
                if connection.status < 300:
                    return connection
                problem = problem_of(await connection.body(_TIMEOUT))
                status, after = connection.status, connection.headers.get("Retry-After", "")
                await self._put_back(connection)
                connection = None  # Another thread may have it now.
                if status not in (429, 502, 503, 504) and problem["code"] != "in_progress":
                    raise refusal(status, problem, id)
                reason = f"the server answers with status {status}: {problem['detail']}"
                pause = float(after) if after.isdigit() else 0.0
            except OSError as error:
                if connection:
                    await connection.close()
                    if not is_new:
                        continue  # The server had closed it; the other idle ones, too.
                reason = f"{self._host} does not respond: {error}"
                if isinstance(error, ssl.SSLCertVerificationError):
                    raise Unreachable(reason) from None
            except BaseException:
                if connection:
                    await connection.close()
                raise
            if not await backoff.wait(pause):
                raise Unreachable(reason, may_have_pushed=is_sent and method == "POST")

    async def _connect(self) -> Connection:
        return Connection(await self._runtime.connect(self._address, _TIMEOUT / 2), self._host)

    async def _put_back(self, connection: Connection) -> None:
        if connection.is_reusable and len(self._idle) < _MAX_IDLE:
            self._idle.append(connection)
        else:
            await connection.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()


def _path(id: str) -> str:
    return "/v1/jobs/" + quote(id, safe="")
