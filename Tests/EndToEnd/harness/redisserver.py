"""A private redis-server and connections to it, without a client library."""

import os
import socket

from processes import HANG, Process, until

# The variable chooses another release of Redis, or Valkey.
PROGRAM = os.environ.get("REDIS_SERVER", "redis-server")


class Connection:
    """A connection to Redis over its unix socket, which is opened by the first command."""

    def __init__(self, path):
        self.path = path
        self.connection = None

    def drop(self):
        if self.connection:
            self.connection[1].close()
            self.connection[0].close()
            self.connection = None

    def __call__(self, *words):
        return self.many([words])[0]

    def many(self, commands):
        """Sends all commands at once and returns their replies."""
        try:
            if not self.connection:
                link = socket.socket(socket.AF_UNIX)
                link.settimeout(HANG)
                link.connect(self.path)
                self.connection = (link, link.makefile("rb"))
            self.connection[0].sendall(b"".join(map(self.packed, commands)))
            return [self.reply() for _ in commands]
        except OSError:
            self.drop()
            raise

    @staticmethod
    def packed(words):
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)

    def reply(self):
        stream = self.connection[1]
        line = stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("redis-server closed the connection")
        kind, text = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"-":
            raise RuntimeError(text)
        if kind == b"+":
            return text
        if kind == b":":
            return int(text)
        if int(text) < 0:
            return None
        if kind == b"$":
            return stream.read(int(text) + 2)[:-2].decode(errors="replace")
        return [self.reply() for _ in range(int(text))]


class Redis(Connection):
    """A redis-server on a unix socket; `port` adds a port on loopback."""

    def __init__(self, folder, *options, port=0):
        super().__init__(f"{folder}/redis.sock")
        self.folder = folder
        self.port = port
        self.url = f"unix://{self.path}"
        self.options = options
        self.process = None
        self.start()

    def start(self):
        self.process = Process(
            [PROGRAM, "--port", self.port, "--bind", "127.0.0.1", "--unixsocket", self.path, "--dir", self.folder,
             "--save", "", "--maxmemory-policy", "noeviction", *self.options],
            f"{self.folder}/redis.log")
        until("redis-server answers", 20, self.answers)

    def answers(self):
        try:
            return self("PING") == "PONG"
        except (OSError, RuntimeError):
            return False

    def kill(self):
        self.process.kill()
        self.drop()
