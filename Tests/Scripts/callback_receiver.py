"""A receiver of callbacks that checks each signature with the secret of its argument, and prints each request as JSON.

The path says how it behaves: `/ok`, `/<status>`, `/<status>-once` (with `Retry-After: 0`), `/hang-once`, `/hang`, and `/away`, which
redirects to `/ok`.
"""

import base64, hashlib, hmac, http.server, json, sys, threading, time
key = base64.b64decode(sys.argv[1].removeprefix("whsec_"))
seen, lock = {}, threading.Lock()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        id, stamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.new(key, b".".join([id.encode(), stamp.encode(), body]), hashlib.sha256).digest()
        right = "v1," + base64.b64encode(code).decode()
        signatures = self.headers["webhook-signature"].split(" ")
        genuine = any(hmac.compare_digest(right, one) for one in signatures) and abs(time.time() - int(stamp)) < 60
        path, how = self.path, self.path.split("?")[0].strip("/")
        with lock:
            turn = seen[path] = seen.get(path, 0) + 1
            print(json.dumps({"path": path, "id": id, "isGenuine": genuine, "signatures": len(signatures),
                "body": body.decode(), "type": self.headers["Content-Type"],
                "user": self.headers.get("Authorization", "")}), flush=True)
        how, _, once = how.partition("-")
        if once and turn > 1: how = "ok"
        if how == "hang": time.sleep(600)
        self.send_response({"ok": 200, "away": 302}.get(how) or int(how))
        if how == "away": self.send_header("Location", "/ok")
        if once: self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
