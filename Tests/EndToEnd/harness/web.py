"""An HTTP server on loopback that serves a folder with ranges, and that can be slow, close connections or refuse."""

import http.server
import pathlib
import re
import threading
import time


class Server:
    """Serves the files of a folder; `rules` by path change how.

    `rate`: bytes per second. `held`: an event for which the body waits. `cut`: bytes after which the connection of the first request is closed. `status`: sent
    instead of the file, with a header `Retry-After` of `retry_after` seconds. `location`: redirects there. `ranges`
    False: sends only whole files, without their length.
    POSTs get status 204, and `posts` are (webhook-id, error of their webhook-timestamp in seconds). `requests` are
    [path, first byte or None, last byte or None, bytes sent, bytes of the file sent before].
    """

    def __init__(self, folder, address="127.0.0.1"):
        self.folder = pathlib.Path(folder)
        self.rules = {}
        self.requests = []
        self.posts = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self, True)

            def do_HEAD(self):
                outer.answer(self, False)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                off = time.time() - int(self.headers["webhook-timestamp"])
                outer.posts.append((self.headers["webhook-id"], off))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://{address}:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler, has_body):
        rule = self.rules.get(handler.path, {})
        path = self.folder / handler.path.lstrip("/")
        status = rule.get("status", 302 if "location" in rule else 200 if path.is_file() else 404)
        if status != 200:
            handler.send_response(status)
            if "location" in rule:
                handler.send_header("Location", rule["location"])
            if "retry_after" in rule:
                handler.send_header("Retry-After", str(rule["retry_after"]))
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            self.requests.append([handler.path, None, None, 0, 0])
            return
        size = path.stat().st_size
        if not rule.get("ranges", True):
            return self.stream(handler, path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
        condition = handler.headers.get("If-Range")
        first, last = 0, size - 1
        if asked and (condition is None or condition == f'"{size}"'):
            first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
            if first >= size:
                handler.send_response(416)
                handler.send_header("Content-Range", f"bytes */{size}")
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        else:
            asked = None
            handler.send_response(200)
        handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("ETag", f'"{size}"')
        handler.send_header("Content-Length", str(last - first + 1))
        handler.end_headers()
        earlier = self.of(handler.path)
        entry = [handler.path, first if asked else None, int(asked[2]) if asked and asked[2] else None, 0,
                 sum(request[3] for request in earlier)]
        self.requests.append(entry)
        if has_body:
            self.send(handler, path, first, last, rule, entry, None if entry[4] else rule.get("cut"))

    def of(self, path):
        """The requests for a path."""
        return [request for request in self.requests if request[0] == path]

    def stream(self, handler, path):
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(path.read_bytes())
        self.requests.append([handler.path, None, None, path.stat().st_size, 0])

    def send(self, handler, path, first, last, rule, entry, cut):
        rate = rule.get("rate")
        if "held" in rule:
            rule["held"].wait()
        piece = max(1, min(1 << 16, rate // 20)) if rate else 1 << 16
        try:
            with open(path, "rb") as file:
                file.seek(first)
                while first + entry[3] <= last:
                    if cut is not None and entry[3] >= cut:
                        handler.close_connection = True
                        handler.connection.shutdown(2)
                        return
                    data = file.read(min(piece, last - first - entry[3] + 1))
                    handler.wfile.write(data)
                    entry[3] += len(data)
                    if rate:
                        time.sleep(len(data) / rate)
        except OSError:
            handler.close_connection = True
