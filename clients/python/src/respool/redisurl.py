"""Addresses of Redis, in the form that all programs of respool take."""

from __future__ import annotations

from typing import Any, Dict
from urllib.parse import parse_qs, unquote, urlsplit

_FILES = {"ca": "ssl_ca_certs", "cert": "ssl_certfile", "key": "ssl_keyfile"}


def options(url: str) -> Dict[str, Any]:
    """The arguments for redis-py of `redis://`, `rediss://` or `unix://`."""
    parts = urlsplit(url)
    found: Dict[str, Any] = {}
    database = ""
    if parts.scheme in ("unix", "redis+unix"):
        found["unix_socket_path"] = unquote(parts.path)
    elif parts.scheme in ("redis", "rediss"):
        found["host"] = parts.hostname or "127.0.0.1"
        found["port"] = parts.port or 6379
        found["ssl"] = parts.scheme == "rediss"
        database = parts.path[1:]
    else:
        raise ValueError(
            f"the address has the scheme '{parts.scheme}': use redis, rediss, unix, http or https; with Sentinel or Cluster, use the HTTP API")
    if parts.username:
        found["username"] = unquote(parts.username)
    if parts.password:
        found["password"] = unquote(parts.password)
    for name, values in parse_qs(parts.query, strict_parsing=bool(parts.query)).items():
        if name == "db":
            database = values[-1]
        elif name in ("user", "username", "password"):
            found["password" if name == "password" else "username"] = values[-1]
        elif name in _FILES and found.get("ssl"):
            found[_FILES[name]] = values[-1]
        else:
            raise ValueError(f"the address of Redis has the parameter '{name}': use db, user, password, and with rediss:// ca, cert or key")
    if database:
        if not database.isdigit():
            raise ValueError(f"the address of Redis has the database '{database}': use a number such as 0")
        found["db"] = int(database)
    return found
