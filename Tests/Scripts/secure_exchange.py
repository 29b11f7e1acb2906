"""Sends each text of a JSON list on its own TLS connection, and prints the answers as a JSON list: secure_exchange.py HOST PORT
SECONDS.

An answer ends when the server closes the connection, or after that many seconds without a byte.
"""

import json, socket, ssl, sys
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

def exchange(text):
    answer = b""
    with ssl._create_unverified_context().wrap_socket(socket.create_connection((host, port), 60)) as s:
        try: s.sendall(text.encode("latin-1"))
        except (ConnectionError, TimeoutError, ssl.SSLError): pass
        try:
            s.settimeout(seconds)
            while chunk := s.recv(65536): answer += chunk
        except (ConnectionError, TimeoutError, ssl.SSLError): pass
    return answer.decode("latin-1")

json.dump([exchange(text) for text in json.load(sys.stdin)], sys.stdout)
