"""Clients that hold connections: held_clients.py idle PORT, handshake PORT, send PATH or read PATH. Prints what became of them, a word each.

`idle`: three connections of one address, one with half a body, one whose request is processed, and, after a line of standard
input, an idle one; then a fourth asks.
`handshake`: three that have sent the start of a ClientHello, of which the listener takes two. `send`, `read`: one that
sends a body a byte at a time, or reads a file slowly, over a Unix socket.
"""

import select, socket, sys, time


def connect(start=b""):
    link = socket.create_connection(("127.0.0.1", int(sys.argv[2])), 60)
    link.sendall(start)
    return link


def end(link):
    """Whether the other side closes the connection within a minute."""
    link.settimeout(60)
    try:
        return "closed" if link.recv(1) == b"" else "answered"
    except ConnectionError: return "closed"
    except TimeoutError: return "open"


def request(path, headers="", body=b""):
    return f"{'POST' if headers else 'GET'} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode() + body


if sys.argv[1] == "idle":
    body = connect(request("/echo", "Content-Length: 5\r\n", b"he"))
    processed = connect(request("/wait"))
    sys.stdin.readline()
    time.sleep(0.3)
    idle = connect()
    newest = connect(request("/hello"))
    print(newest.recv(15).decode().split()[1], end(idle), flush=True)
    body.sendall(b"llo")
    print(body.recv(15).decode().split()[1], processed.recv(15).decode().split()[1])
elif sys.argv[1] == "handshake":
    links = []
    for _ in range(3):
        links.append(connect(b"\x16\x03\x01\x02\x00\x01"))
        time.sleep(0.1)
    print(*(end(link) for link in links))
else:
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[2])
    is_reader = sys.argv[1] == "read"
    link.sendall(request("/file") if is_reader else request("/sink", "Content-Length: 9999\r\n").replace(b"POST", b"PUT"))
    poll = select.poll()
    poll.register(link, 0)
    until, is_open = time.monotonic() + 60, True
    # Often enough that the connection is not idle.
    while time.monotonic() < until and (is_open := not poll.poll(100)):
        try: link.recv(2000) if is_reader else link.sendall(b"a")
        except ConnectionError: is_open = False
    print("open" if is_open else "closed")
