"""Slow connections from many addresses of this machine, and health checks among them: many_addresses.py PORT.
"""

import select, socket, sys, time
port = int(sys.argv[1])
def open(host, text):
    s = socket.create_connection(("127.0.0.1", port), 60, (host, 0))
    s.sendall(text)
    return s
def check():
    """The seconds of a health check."""
    start = time.time()
    with open("127.0.0.1", b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n") as s:
        if not s.recv(100).startswith(b"HTTP/1.1 200"): print("no answer")
    return time.time() - start
usual = max(check() for _ in range(20))
slow, longest = [], 0
for _ in range(20):
    for n in range(2, 12): slow.append(open(f"127.0.0.{n}", b"GET /he"))
    longest = max(longest, check())
# What is too much is closed at once, long before each of them has taken too long.
end = time.time() + 5
while len(held := [s for s in slow if not select.select([s], [], [], 0)[0]]) > 32 and time.time() < end: time.sleep(0.05)
print(len(held) <= 32, longest < max(2, 10 * usual))
