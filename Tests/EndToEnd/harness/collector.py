"""A stand-in for a collector of OpenTelemetry: OTLP/HTTP with JSON on loopback."""

import http.server
import json
import threading
import time


class Collector:
    """Keeps the spans that it is sent.

    `answers` are statuses for the next requests, or pairs of a status and further headers; then 200. `requests` are
    (path, headers, body, status), and `times` when they came.
    """

    def __init__(self):
        self.answers = []
        self.requests = []
        self.times = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = outer.answers.pop(0) if outer.answers else 200
                status, fields = answer if isinstance(answer, tuple) else (answer, {})
                outer.times.append(time.monotonic())
                outer.requests.append((self.path, dict(self.headers), body, status))
                self.send_response(status)
                for name, value in ({"Content-Type": "application/json", "Content-Length": "2"} | fields).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self, job=None):
        """The spans that were taken, of one job or of all, each with the attributes by name."""
        found = []
        for _, _, body, status in list(self.requests):
            for resource in body["resourceSpans"] if status == 200 else ():
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        values = {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}
                        found.append(span | {"values": values})
        traces = {span["traceId"] for span in found if job is None or span["values"].get("respool.job") == job}
        return [span for span in found if span["traceId"] in traces]

    def named(self, job):
        """The spans of a job by name."""
        return {span["name"]: span for span in self.spans(job)}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
