"""Sends each text of a JSON list on its own connection, and prints the answers as a JSON list: raw_exchange.py HOST PORT SECONDS [tls].

An answer ends when the server closes the connection, or after that many seconds without a byte. A HOST that begins with / is a
Unix socket.
"""

import json, socket, ssl, sys
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
answers = []
for text in json.load(sys.stdin):
    s = socket.socket(socket.AF_UNIX) if host.startswith("/") else socket.create_connection((host, port), 60)
    if host.startswith("/"): s.connect(host)
    if "tls" in sys.argv[4:]: s = ssl._create_unverified_context().wrap_socket(s)
    with s:
        answer = b""
        try:
            s.sendall(text.encode("latin-1"))
            s.settimeout(seconds)
            while chunk := s.recv(65536): answer += chunk
        except (ConnectionError, TimeoutError, ssl.SSLError): pass
        answers.append(answer.decode("latin-1"))
json.dump(answers, sys.stdout)
