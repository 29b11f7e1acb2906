"""Answers OK to the greeting, and breaks the connection at the first INCR; prints the first word of each command.

breaking_redis.py SOCKET
"""

import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready")
while True:
    connection, _ = listener.accept()
    while True:
        words = connection.recv(65536).split(b"\r\n")
        if len(words) < 3: break
        print(words[2].decode())
        if words[2] == b"INCR": break
        connection.sendall(b"+OK\r\n")
    connection.close()
