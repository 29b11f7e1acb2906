"""In a network namespace of its own: a name server whose answers change, and a web server that it names.

rebinding.py FOLDER writes to `asked` in the folder the address under which each request came. It ends with its standard input.
"""

import http.server, os, socket, subprocess, sys, threading

PUBLIC, ELSEWHERE, LOOPBACK = "93.184.216.34", "93.184.216.35", "127.0.0.1"
folder = sys.argv[1]
resolver = os.path.join(folder, "resolv.conf")
open(resolver, "w").write("nameserver 127.0.0.53\n")
for command in ["ip link set lo up", "ip addr add %s/32 dev lo" % PUBLIC, "mount --bind %s /etc/resolv.conf" % resolver]:
    subprocess.run(command.split(), check=True)
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.53", 53))

def resolve():
    seen = set()
    while True:
        question, sender = names.recvfrom(512)
        end = question.index(b"\0", 12) + 1
        name = question[12:end].lower()
        addresses = []
        if question[end:end + 2] == b"\0\1":
            addresses = [ELSEWHERE, LOOPBACK] if b"both" in name else [LOOPBACK if name in seen else PUBLIC]
            seen.add(name)
        answers = b"".join(b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(one) for one in addresses)
        head = question[:2] + b"\x81\x80\0\1\0" + bytes([len(addresses)]) + b"\0\0\0\0"
        names.sendto(head + question[12:end + 4] + answers, sender)

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments): pass
    def do_GET(self):
        with open(os.path.join(folder, "asked"), "a") as log: log.write(self.connection.getsockname()[0] + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"bytes")

threading.Thread(target=resolve, daemon=True).start()
server = http.server.ThreadingHTTPServer(("0.0.0.0", 80), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
