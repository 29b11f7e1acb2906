"""A server that keeps to HTTP, bends it or breaks it, as the first part of the path says: `/<behaviour>/<name>/<number>`.

origin.py FILE FOLDER serves the file, and writes to `<name>.log` in the folder what came and how many bytes of a body went out. It
ends with its standard input.
"""

import http.server, os, random, socket, ssl, struct, subprocess, sys, threading, time, urllib.parse

content = open(sys.argv[1], "rb").read()
folder = sys.argv[2]
seen = {}
lock = threading.Lock()
TAG = '"one"'
DATE = "Sat, 01 Jan 2022 00:00:00 GMT"

def long_part(first, end):
    # Of content that goes on and on, each time turned a little further.
    parts = []
    while first < end:
        lap, at = divmod(first, len(content))
        stop = min(end, (lap + 1) * len(content))
        turned = content[lap * 4099:] + content[:lap * 4099]
        parts.append(turned[at:at + stop - first])
        first = stop
    return b"".join(parts)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *arguments): pass

    def note(self, text):
        with lock, open(os.path.join(folder, self.name + ".log"), "a") as log: log.write(text + "\n")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.split("/")[1:] + ["", ""]
        behaviour, self.name, number = parts[0], parts[1], parts[2]
        query = urllib.parse.parse_qs(url.query)
        with lock:
            turn = seen[url.path] = seen.get(url.path, 0) + 1
        self.note("GET " + self.headers.get("Range", "-") + " " + self.headers.get("If-Range", "-")
            + " " + self.headers.get("Accept-Encoding", "-"))
        self.sent = 0
        try: getattr(self, "do_" + behaviour.replace("-", "_"))(int(number or 0), turn, query)
        except (BrokenPipeError, ConnectionResetError): self.close_connection = True
        self.note("SENT %d" % self.sent)

    def do_PUT(self):
        # Keeps what was sent; the first `number` requests are told to come again, or that they may not.
        url = urllib.parse.urlsplit(self.path)
        behaviour, self.name, number = (url.path.split("/")[1:] + ["", ""])[:3]
        with lock:
            turn = seen[url.path] = seen.get(url.path, 0) + 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.note("%s %s %s %s" % (self.command, url.query, self.headers.get("Content-Type", "-"), self.headers.get("X-Kind", "-")))
        if behaviour == "put-drip":
            self.head(200, {"Content-Length": 10**6})
            # Until the client ends the connection.
            while True:
                self.wfile.write(b"x")
                time.sleep(0.05)
        # Keeps what it has from whoever asks for that.
        isKept = behaviour == "put-once" and self.headers.get("If-None-Match") == "*" and turn > 1
        refusals = {"put-busy": 503, "put-later": 503, "put-denied": 403, "put-exists": 412}
        status = 412 if isKept else 200 if behaviour == "put-replaced" else 201 if turn > int(number or 0) else refusals[behaviour]
        if status < 300: open(os.path.join(folder, self.name + ".body"), "wb").write(body)
        tag = {"put-long": '"%s"' % ("x" * 60000), "put-error": None}.get(behaviour, TAG)
        text = b"<Error><Code>%s</Code></Error><ETag>%s</ETag>" % ((b"x" * 400000,) * 2) if behaviour == "put-error" else b""
        self.head(status, {"Content-Length": len(text)} | ({"ETag": tag} if tag else {}) | ({"Retry-After": 30} if behaviour == "put-later" else {}))
        self.wfile.write(text)
    do_POST = do_PUT

    def do_DELETE(self):
        os.remove(os.path.join(folder, self.path.split("/")[2] + ".body"))
        self.head(204, {})

    def head(self, status, fields):
        self.send_response(status)
        for name, value in fields.items(): self.send_header(name, str(value))
        self.end_headers()

    def put(self, body, pace=0):
        step = 16384
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            self.sent += len(body[at:at + step])
            if pace: time.sleep(pace)

    def wanted(self, total=None):
        text = self.headers.get("Range")
        if not text: return None
        first, last = text.split("=")[1].split("-")
        return int(first), min(int(last) + 1 if last else (total or len(content)), total or len(content))

    def serve(self, tag=TAG, cut=None, pace=0, shift=0, total=None, fields={}):
        total = total or len(content)
        span = self.wanted(total)
        if span and self.headers.get("If-Range", tag) not in (tag, DATE): span = None
        if tag and self.headers.get("If-None-Match") == tag: return self.head(304, {"ETag": tag})
        first, end = span or (0, total)
        fields = dict(fields, **{"Content-Length": end - first, "Last-Modified": DATE})
        if tag: fields["ETag"] = tag
        if span: fields["Content-Range"] = "bytes %d-%d/%d" % (first + shift, end - 1 + shift, total)
        self.head(206 if span else 200, fields)
        body = content[first:end]
        self.put(body if cut is None else body[:cut], pace)
        if cut is not None or len(body) < end - first: self.close_connection = True

    def do_ranges(self, number, turn, query): self.serve()
    def do_slow(self, number, turn, query): self.serve(pace=number / 1000)
    def do_editions(self, number, turn, query):
        # The second one, after `number` requests, is half as long.
        if turn <= number: self.serve()
        else: self.serve(tag='"two"', total=len(content) // 2)
    def do_stalls_once(self, number, turn, query): self.do_stalls(number, turn, query) if turn == 1 else self.serve()
    def do_no_store(self, number, turn, query): self.serve(fields={"Cache-Control": "private, no-store"})
    def do_unsure(self, number, turn, query):
        # Where the body ends is where the connection does.
        self.head(200, {"ETag": TAG})
        self.put(content)
        self.close_connection = True
    def do_held(self, number, turn, query):
        # The first request goes on after its beginning only when as many others have come.
        if turn > 1: return self.serve(pace=0.01)
        self.head(200, {"Content-Length": len(content), "ETag": TAG})
        self.put(content[:65536])
        while seen[self.path] <= number: time.sleep(0.01)
        self.put(content[65536:], 0.01)
    def do_cut_once(self, number, turn, query): self.serve(cut=number if turn == 1 else None)
    def do_cut_always(self, number, turn, query): self.serve(cut=number)
    def do_cut_randomly(self, number, turn, query):
        # Fifty answers end anywhere. The content is long, and no two megabytes of it are the same.
        total, cuts = 40 * len(content), random.Random(number * 1000 + turn)
        first, end = self.wanted(total) or (0, total)
        with lock:
            done = seen.setdefault(self.name, 0)
        cut = cuts.randrange(100000, 900000) if done < 50 else total
        fields = {"ETag": TAG, "Content-Length": end - first}
        if self.headers.get("Range"): fields["Content-Range"] = "bytes %d-%d/%d" % (first, end - 1, total)
        self.head(206 if self.headers.get("Range") else 200, fields)
        for at in range(first, min(end, first + cut), 65536):
            self.put(long_part(at, min(end, first + cut, at + 65536)))
        if cut < end - first:
            self.note("CUT")
            with lock: seen[self.name] += 1
            self.close_connection = True
            # Half of the time the connection is reset, so that bytes on their way are lost too.
            if cuts.random() < 0.5: self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    def do_endless_header(self, number, turn, query):
        kind = query["kind"][0]
        self.wfile.write({"interim": b"", "line": b"HTTP/1.1 200 OK\r\nX: "}.get(kind, b"HTTP/1.1 200 OK\r\n"))
        if kind == "trailer": self.wfile.write(b"ETag: %s\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" % TAG.encode())
        piece = {"interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "line": b"x" * 1000}.get(kind, b"X-More: %s\r\n" % (b"x" * 50))
        while True:
            self.wfile.write(piece)
            self.sent += len(piece)
    def do_changes(self, number, turn, query):
        self.serve(tag='"%d"' % turn, cut=number if turn == 1 else None)
    def do_longer(self, number, turn, query): self.serve(total=len(content) + number)
    def do_shifted(self, number, turn, query):
        self.serve(cut=number if turn == 1 else None, shift=0 if turn == 1 else 1)
    def do_dated(self, number, turn, query): self.serve(tag=None, cut=number if turn == 1 else None)
    def do_unavailable_once(self, number, turn, query):
        if turn == 2: self.head(503, {"Content-Length": 0})
        else: self.serve(cut=number if turn == 1 else None)
    def do_without_ranges(self, number, turn, query):
        self.head(200, {"Content-Length": len(content), "ETag": TAG})
        self.put(content[:number] if number else content, 0.002)
        self.close_connection = True
    def do_without_validator(self, number, turn, query):
        self.head(200, {"Content-Length": len(content)})
        self.put(content[:number])
        self.close_connection = True
    def do_overlong(self, number, turn, query):
        if turn == 1: return self.serve(cut=number)
        first, end = self.wanted()
        self.head(206, {"Transfer-Encoding": "chunked", "ETag": TAG,
            "Content-Range": "bytes %d-%d/%d" % (first, end - 1, len(content))})
        self.chunked(content[first:end] + b"more")
    def do_chunked(self, number, turn, query):
        span = self.wanted()
        if span:
            self.head(206, {"Transfer-Encoding": "chunked", "ETag": TAG,
                "Content-Range": "bytes %d-%d/%d" % (span[0], span[1] - 1, len(content))})
            return self.chunked(content[span[0]:span[1]])
        self.head(200, {"Transfer-Encoding": "chunked", "ETag": TAG})
        self.chunked(content[:number] if number else content, not number)
        if number: self.close_connection = True
    def do_endless(self, number, turn, query):
        self.head(200, {"Transfer-Encoding": "chunked"})
        while True: self.chunked(content, False)
    def chunked(self, body, end=True):
        for at in range(0, len(body), 10000):
            part = body[at:at + 10000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.sent += len(part)
        if end: self.wfile.write(b"0\r\n\r\n")
    def do_stalls(self, number, turn, query):
        self.head(200, {"Content-Length": len(content), "ETag": TAG})
        self.put(content[:number])
        self.connection.settimeout(300)
        self.connection.recv(1)
        self.close_connection = True
    def do_mute(self, number, turn, query):
        self.connection.settimeout(20)
        self.connection.recv(1)
        self.close_connection = True
    def do_redirect(self, number, turn, query):
        self.head(302, {"Location": query["to"][0], "Content-Length": 0})
    def do_list(self, number, turn, query):
        # The text is in the query; each further request is answered with the next, and then with the last again.
        texts = query.get("text", ["#EXTM3U\n"])
        text = texts[min(turn, len(texts)) - 1].encode()
        self.head(200, {"Content-Length": len(text), "Cache-Control": "no-cache"})
        self.put(text)
    def do_who(self, number, turn, query):
        self.note("WHO %s %s" % (self.headers.get("Authorization", "-"), self.headers.get("X-Key", "-")))
        if "to" not in query: return self.serve()
        self.head(302, {"Location": self.path.partition("?to=")[2], "Content-Length": 0})
    def do_circle(self, number, turn, query): self.head(302, {"Location": self.path, "Content-Length": 0})
    def do_status(self, number, turn, query):
        body = b"<html>no audio here</html>"
        fields = {"Content-Length": len(body), "Content-Type": "text/html"}
        if "encoded" in query: fields["Content-Encoding"] = "gzip"
        if "after" in query: fields["Retry-After"] = query["after"][0]
        self.head(number, fields)
        self.put(body)
    def do_one_at_a_time(self, number, turn, query):
        if turn > 1: return self.head(503, {"Content-Length": 0})
        self.serve(pace=0.02)
    def do_headless(self, number, turn, query):
        self.wfile.write(bytes(3000))
        self.close_connection = True
    def do_icy(self, number, turn, query):
        # A radio station of old: its own status line, and a title after each 8192 bytes; it goes on for `number` bytes.
        self.note("ICY " + self.headers.get("Icy-MetaData", "-"))
        self.close_connection = True
        self.wfile.write(b"ICY 200 OK\r\nicy-name: Test\r\nicy-metaint: 8192\r\nContent-Type: audio/mpeg\r\n\r\n")
        for at in range(0, number, 8192):
            part = content[at % len(content):][:8192]
            title = b"StreamTitle='It\xe9m %d';StreamUrl='';" % (at // 65536) if at % 65536 == 0 else b""
            count = (len(title) + 15) // 16
            self.wfile.write(part + bytes([count]) + title.ljust(count * 16, b"\0"))
            self.sent += len(part)
    def do_station(self, number, turn, query):
        # One of today, that sends as fast as it can.
        self.close_connection = True
        self.head(200, {"icy-name": "Test", "Content-Type": "audio/mpeg", "Connection": "close"})
        for at in range(0, number, len(content)): self.put(content)
    def do_encoded(self, number, turn, query): self.serve(fields={"Content-Encoding": "gzip"})
    def do_empty(self, number, turn, query): self.head(200, {"Content-Length": 0})
    def do_secret(self, number, turn, query):
        if self.headers.get("Authorization") == "Basic bWU6c2VjcmV0" and query.get("token") == ["t"]: self.serve()
        else: self.head(401, {"Content-Length": 0, "WWW-Authenticate": "Basic"})

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    def handle_error(self, request, address): pass

plain = Server(("127.0.0.1", 0), Handler)
secure = Server(("127.0.0.1", 0), Handler)
key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
    "-out", certificate], check=True, stderr=subprocess.DEVNULL)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
for server in (plain, secure): threading.Thread(target=server.serve_forever, daemon=True).start()
print(plain.server_port, secure.server_port, flush=True)
sys.stdin.read()
