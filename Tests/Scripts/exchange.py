"""Sends each line of its standard input as a request on its own connection and prints each answer, with a NUL behind it.

exchange.py HOST PORT; U+0001 in a line is a line end.
"""

import socket, sys
for line in sys.stdin.read().split("\n"):
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 60) as s:
        answer = b""
        try:
            line = line.replace("\1", "\r\n")
            s.sendall(f"{line}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            while chunk := s.recv(65536): answer += chunk
        except ConnectionError: pass
        sys.stdout.buffer.write(answer + b"\0")
