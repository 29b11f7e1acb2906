#!/usr/bin/env python3
"""Receives respool's callbacks: checks who sent them, drops repeats, and prints what ended.

RESPOOL_CALLBACK_SECRET=whsec_… python3 callbacks.py [PORT]
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

KEYS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["RESPOOL_CALLBACK_SECRET"].split()]
seen = set()  # In a service of yours: a table with a unique column.


def is_genuine(headers, body):
    id, stamp, given = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not stamp.isdecimal() or abs(time.time() - int(stamp)) > 300:
        return False
    message = f"{id}.{stamp}.".encode() + body
    codes = [base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode() for key in KEYS]
    return any(hmac.compare_digest("v1," + code, one) for code in codes for one in given.split())


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
        if not is_genuine(self.headers, body):
            return self.send_error(401)
        if self.headers["webhook-id"] not in seen:
            message = json.loads(body)
            data = message["data"]
            print(message["type"], data.get("id") or data.get("group"), flush=True)
            # Only once that is done for good:
            seen.add(self.headers["webhook-id"])
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
