"""Addresses with TLS, sockets and databases."""

from __future__ import annotations

import pathlib
import socket
import ssl
import subprocess
import threading
from typing import Any, Iterator, Tuple

import pytest
from installation import Installation
from kinds import Calls
from processes import free_port

from respool import Gap, Unreachable
from respool.redisurl import options


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: Any) -> Tuple[str, str]:
    """A certificate for localhost, and its key."""
    folder = pathlib.Path(tmp_path_factory.mktemp("tls"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True)
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.fixture(scope="module")
def secure(certificate: Tuple[str, str]) -> Iterator[Installation]:
    """An installation whose Redis has TLS."""
    port = free_port()
    cert, key = certificate
    installation = Installation("--tls-port", str(port), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
                                "--tls-auth-clients", "no")
    installation.redis_url = f"rediss://localhost:{port}/0"
    installation.start_server()
    yield installation
    installation.clear()


def test_redis_is_reached_by_tls_by_a_socket_and_in_a_database(secure: Installation, kind: str, certificate: Tuple[str, str]) -> None:
    client = Calls(kind, f"{secure.redis_url}?ca={certificate[0]}")
    id = client.push(secure.fields(delay=3600))
    client.close()
    client = Calls(kind, f"unix://{secure.redis.path}")
    assert client.status(id).id == id
    client.close()
    client = Calls(kind, f"unix://{secure.redis.path}?db=1", queue="other", reconnect_timeout=0.3)
    client.push(secure.fields())
    secure.redis("SELECT", 1)
    assert secure.redis("XLEN", "respool:{other}:in") >= 1
    secure.redis("SELECT", 0)
    client.close()
    client = Calls(kind, secure.redis_url, reconnect_timeout=0.3)
    with pytest.raises(Unreachable) as failure:
        client.push(secure.fields())
    assert not failure.value.may_have_pushed
    client.close()


def test_an_https_address_needs_a_certificate_that_is_trusted(secure: Installation, kind: str, certificate: Tuple[str, str]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=terminate, args=(listener, context, secure.port), daemon=True).start()
    url = f"https://localhost:{listener.getsockname()[1]}"
    trusting = ssl.create_default_context(cafile=certificate[0])
    client = Calls(kind, url, token="operate-secret", tls=trusting)
    id = client.push(secure.fields(delay=3600))
    assert client.status(id).state == "delayed"
    assert client.cancel(id) == "cancelled"
    assert client.take(1) == [Gap()]
    client.close()
    client = Calls(kind, url, token="operate-secret", reconnect_timeout=60)
    with pytest.raises(Unreachable, match="certificate"):
        client.status(id)
    client.close()


def terminate(listener: socket.socket, context: ssl.SSLContext, port: int) -> None:
    """Terminates TLS before the server."""
    def carry(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    while True:
        link = listener.accept()[0]
        try:
            near = context.wrap_socket(link, server_side=True)
        except OSError:
            continue
        far = socket.create_connection(("127.0.0.1", port))
        for way in ((near, far), (far, near)):
            threading.Thread(target=carry, args=way, daemon=True).start()


def test_an_address_is_read_as_the_programs_read_it() -> None:
    assert options("redis://user:p%40ss@host:7000/3") == {
        "host": "host", "port": 7000, "ssl": False, "username": "user", "password": "p@ss", "db": 3}
    assert options("rediss://:secret@[::1]?ca=/ca.pem&cert=/c.pem&key=/k.pem") == {
        "host": "::1", "port": 6379, "ssl": True, "password": "secret", "ssl_ca_certs": "/ca.pem", "ssl_certfile": "/c.pem",
        "ssl_keyfile": "/k.pem"}
    assert options("unix:///run/redis.sock?db=2&password=a%2Bb") == {"unix_socket_path": "/run/redis.sock", "db": 2, "password": "a+b"}
    for url in ("redis+sentinel://h/name", "redis://h/x", "redis://h?ca=/f", "redis://h?dbx=1"):
        with pytest.raises(ValueError):
            options(url)
