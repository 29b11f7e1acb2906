"""`respool serve`, and clients of it."""

import http.client
import json

from processes import HANG, Process, until
from service import RESPOOL


class Client:
    """Requests to the server with one token; with a context, over TLS."""

    def __init__(self, port, token=None, context=None):
        self.port, self.token, self.context = port, token, context

    def connection(self):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=HANG, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)

    def __call__(self, method, path, body=None, **headers):
        connection = self.connection()
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def status(self, path):
        """The status of a GET, on a new connection."""
        return self.get(path)[0]

    def text(self, path):
        return self.get(path)[1].decode()

    def get(self, path):
        connection = self.connection()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def start_server(service, port, log, *words, context=None, program=RESPOOL, **settings):
    """Starts a server that listens on loopback, and waits until it is ready; the settings are RESPOOL_* variables in lower case."""
    environment = service.environment | {f"RESPOOL_{name.upper()}": str(value) for name, value in settings.items()}
    server = Process([program, "serve", "--listen", f"127.0.0.1:{port}", *words], log, environment)

    def is_ready():
        try:
            return Client(port, context=context).status("/readyz") == 200
        except OSError:
            return False

    until("the server is ready", 20, is_ready)
    return server
