"""Commands to Redis with redis-py, from 4.3 to the newest, blocking or with asyncio."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any, List, Sequence, Tuple

from .errors import AccessDenied, RequestFailed
from .redisurl import options

Command = Tuple[Any, ...]
#: Errors after which the same command may succeed, and was not executed: the names of their classes, and how they begin.
_TRANSIENT = {"BusyLoadingError", "ReadOnlyError", "MasterDownError", "OutOfMemoryError", "TryAgainError", "ClusterDownError"}
_TRANSIENT_TEXTS = ("OOM", "BUSY ", "NOREPLICAS", "MISCONF")
_DENIED = {"AuthenticationError", "AuthorizationError", "AuthenticationWrongNumberOfArgsError", "NoPermissionError"}


class Lost(Exception):
    """The connection was lost, or no reply came in time."""

    def __init__(self, message: str, is_sent: bool) -> None:
        super().__init__(message)
        #: Whether Redis may have executed the command.
        self.is_sent = is_sent


class RedisConnection:
    """A pool of connections. No command is repeated here: only the caller can know whether it may be."""

    def __init__(self, url: str, is_async: bool) -> None:
        try:
            redis = importlib.import_module("redis")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "an address of Redis needs redis-py: `pip install respool[redis]`, or Debian's python3-redis") from None
        home = importlib.import_module("redis.asyncio") if is_async else redis
        retry = importlib.import_module("redis.asyncio.retry" if is_async else "redis.retry")
        # Newer versions would repeat a command whose reply was lost, and so push a job twice.
        once = retry.Retry(importlib.import_module("redis.backoff").NoBackoff(), 0)
        newer = {"protocol": 2} if int(redis.__version__.split(".")[0]) >= 5 else {}
        self._errors = redis.exceptions
        self._is_async = is_async
        self._client = home.Redis(
            **options(url), decode_responses=True, socket_timeout=20, socket_connect_timeout=10, retry=once, **newer)

    async def ask(self, *words: Any) -> Any:
        """The reply to a command."""
        reply = (await self.ask_all([words]))[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def ask_all(self, commands: Sequence[Command]) -> List[Any]:
        """The reply to each command, which is an error if Redis refuses it."""
        try:
            if len(commands) == 1:
                return [await self._whole(self._client.execute_command(*commands[0]))]
            pipeline = self._client.pipeline(transaction=False)
            for words in commands:
                pipeline.execute_command(*words)
            replies = await self._whole(pipeline.execute(raise_on_error=False))
            return [self._converted(reply) if isinstance(reply, Exception) else reply for reply in replies]
        except (self._errors.RedisError, OSError) as error:
            found = self._converted(error)
            if isinstance(found, Lost) and len(commands) > 1 and "connecting to" not in str(error):
                found.is_sent = True  # Others of the commands may have been executed.
            if isinstance(found, Lost) and found.is_sent or len(commands) > 1:
                raise found from None
            return [found]

    async def _whole(self, reply: Any) -> Any:
        """The reply. A task that is cancelled does not leave half a reply in the connection: older versions would go on with it."""
        if not self._is_async:
            return reply
        task = asyncio.ensure_future(reply)
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(task)

    def _converted(self, error: Exception) -> Exception:
        name, text = type(error).__name__, str(error)
        if name in _DENIED or text.startswith(("NOPERM", "NOAUTH", "WRONGPASS")):
            return AccessDenied(f"Redis refuses the command: {text}")
        if name in _TRANSIENT or text.startswith(_TRANSIENT_TEXTS):
            return Lost(text, is_sent=False)
        if isinstance(error, (self._errors.ConnectionError, self._errors.TimeoutError, OSError)):
            return Lost(text, is_sent="connecting to" not in text)
        return RequestFailed(f"Redis refuses the command: {text}")

    async def close(self) -> None:
        """Closes all connections."""
        if self._is_async:
            await (self._client.aclose if hasattr(self._client, "aclose") else self._client.close)()
            await self._client.connection_pool.disconnect()
        else:
            self._client.close()
            self._client.connection_pool.disconnect()
