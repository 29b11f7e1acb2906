"""A server of one file with an entity tag: tagged_origin.py FILE prints its port."""

import http.server, sys

content = open(sys.argv[1], "rb").read()
TAG = '"one"'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments): pass

    def do_GET(self):
        isKnown = self.headers.get("If-None-Match") == TAG
        self.send_response(304 if isKnown else 200)
        self.send_header("ETag", TAG)
        if not isKnown: self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not isKnown: self.wfile.write(content)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
