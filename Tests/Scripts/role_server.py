"""Gives keys of a store as Amazon's container service and a machine's metadata do: role_server.py LIFETIME TOKEN ID SECRET SESSION.

Prints its port and each request; ends with its standard input.
"""

import datetime, http.server, json, sys, threading

lifetime, container, identifier, secret, token = int(sys.argv[1]), *sys.argv[2:]
lock = threading.Lock()
folder = "/latest/meta-data/iam/security-credentials/"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def answer(self, status, text=""):
        # `print` writes its parts one after the other, and another thread may write between them.
        with lock: print(self.command, self.path, flush=True)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def keys(self):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=lifetime)
        self.answer(200, json.dumps({"Code": "Success", "AccessKeyId": identifier, "SecretAccessKey": secret, "Token": token,
            "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}))
    def do_PUT(self):
        isRight = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        self.answer(200 if isRight else 400, "instance-token")
    def do_GET(self):
        if self.path == "/container": self.keys() if self.headers.get("Authorization") == container else self.answer(401)
        elif self.headers.get("X-aws-ec2-metadata-token") != "instance-token": self.answer(401)
        elif self.path == folder: self.answer(200, "the-role\n")
        elif self.path == folder + "the-role": self.keys()
        else: self.answer(404)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
