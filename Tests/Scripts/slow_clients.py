"""Clients that send a byte now and then, and one that asks again and again: slow_clients.py PORT START.
"""

import select, socket, sys, time
port, start = int(sys.argv[1]), sys.argv[2].encode()
slow = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(32)]
for s in slow: s.sendall(start)
alive, end = list(slow), time.time() + 120
while alive and time.time() < end:
    for s in list(alive):
        try:
            if select.select([s], [], [], 0)[0] and not s.recv(1): raise ConnectionError
            s.sendall(b"x")
        except ConnectionError: alive.remove(s)
    time.sleep(0.1)
s = socket.create_connection(("127.0.0.1", port), 60)
s.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
print(len(alive), s.recv(100).split(b"\r\n")[0].decode())
# A client that asks again and again is not cut off, however long it stays.
for _ in range(15):
    s.sendall(b"GET /sick HTTP/1.1\r\nHost: x\r\n\r\n")
    print(s.recv(4000).split(b" ")[-1][:0].decode(), end="")
    time.sleep(0.1)
print("still there")
