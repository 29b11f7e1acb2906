"""An installation with a server, and a proxy that loses replies and connections."""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import socket
import threading
import urllib.request
from typing import Any, Optional, Set

from processes import Process, free_port, until
from service import RESPOOL, Service
from sound import melody, write


class Installation:
    """Redis, a worker, a server, and a source of three seconds."""

    program = RESPOOL

    def __init__(self, *redis_options: str) -> None:
        self.service = Service(*redis_options, port=free_port())
        self.redis = self.service.redis
        self.redis_url = f"redis://127.0.0.1:{self.redis.port}"
        self.port = free_port()
        self.http = f"http://127.0.0.1:{self.port}"
        self.server: Any = None
        write(f"{self.service.sources}/a.wav", melody(3, 1, 1), 1)
        self.source = self.service.source("a.wav")
        tokens = "".join(f"{role} {role} {hashlib.sha256(f'{role}-secret'.encode()).hexdigest()}\n" for role in ("read", "push", "operate"))
        self.tokens = pathlib.Path(self.service.folder) / "tokens"
        self.tokens.write_text(tokens)

    def start_worker(self) -> None:
        self.service.worker(slots=2)

    def start_server(self) -> None:
        words = [RESPOOL, "serve", "--listen", f"127.0.0.1:{self.port}", "--tokens", str(self.tokens)]
        self.server = Process(words, f"{self.service.folder}/serve.log", self.service.environment)
        until("the server is ready", 20, self._is_ready)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.http}/readyz", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def fields(self, **more: Any) -> Any:
        return {"source": self.source, "format": "flac", **more}

    def clear(self) -> None:
        """Ends the processes of this installation alone: `Service.clear` ends those of all."""
        for process in (self.server, *self.service.workers, self.redis.process):
            if process:
                process.clear()
                Process.living.remove(process)
        shutil.rmtree(self.service.folder, ignore_errors=True)


class Loser:
    """Forwards connections to a port, and loses the reply to the first request that contains some bytes."""

    def __init__(self, port: int, text: Optional[bytes] = None) -> None:
        self.lost = threading.Event()
        self._links: Set[socket.socket] = set()
        self._silent: Set[socket.socket] = set()
        self._port = port
        self._text: Optional[bytes] = text
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            near = self._listener.accept()[0]
            self._links.add(near)
            far = socket.create_connection(("127.0.0.1", self._port))
            doomed = threading.Event()
            for way in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._carry, args=(*way, doomed), daemon=True).start()

    def silence(self) -> None:
        """Forwards nothing more to the clients that are connected now."""
        self._silent |= self._links

    def cut(self) -> None:
        """Ends their connections."""
        for link in self._silent:
            link.shutdown(socket.SHUT_RDWR)

    def _carry(self, source: socket.socket, target: socket.socket, is_request: bool, doomed: threading.Event) -> None:
        try:
            while data := source.recv(1 << 18):
                if is_request and self._text and self._text in data:
                    self._text = None
                    doomed.set()
                if not is_request and doomed.is_set():
                    self.lost.set()
                    break
                if target not in self._silent:
                    target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
