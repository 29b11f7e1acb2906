"""An HTTP server whose sources come slowly; prints its port, and then the path of each request.

`/slow` gives ten minutes of silence at about twice their speed; `/slow-once?<name>` does so the first time that it is asked, and a
second of silence at once from then on, which `/quick` always does. `/held` gives five minutes of silence, slowly until
`/release` is asked for. `/drip` gives a byte a second, `/missing` nothing, and `/busy` only from an hour later on.
"""

import http.server, struct, threading, time
seen = set()
lock = threading.Lock()
released = threading.Event()
def wav(seconds):
    size = seconds * 88200
    return b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, 1, 1, 44100, 88200, 2, 16) + b"data" + struct.pack("<I", size), size
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def do_GET(self):
        # `print` writes the text and the line's end one after the other, and another thread may write between them.
        with lock: print(self.path, flush=True)
        if self.path == "/missing": return self.send_error(404)
        if self.path == "/busy":
            self.send_response(503)
            self.send_header("Retry-After", "3600")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path == "/release":
            released.set()
            self.send_response(204)
            return self.end_headers()
        held = self.path == "/held"
        slow = held or self.path == "/slow" or self.path not in seen and not self.path.startswith("/quick")
        seen.add(self.path)
        header, size = wav(300 if held else 600 if slow else 1)
        self.send_response(200)
        self.send_header("Content-Type", "audio/wav")
        self.send_header("Content-Length", str(len(header) + size))
        self.end_headers()
        try:
            while self.path.startswith("/drip"):
                self.wfile.write(b"R")
                time.sleep(1)
            self.wfile.write(header)
            while size:
                part = min(size, 17640)
                self.wfile.write(bytes(part))
                size -= part
                if slow and not (held and released.is_set()): time.sleep(0.1)
        except ConnectionError: self.close_connection = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
