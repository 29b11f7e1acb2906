"""Sends each text of a JSON list on its own connection, and prints the answers as a JSON list: raw_exchange.py HOST PORT SECONDS.

An answer ends when the server closes the connection, or after that many seconds without a byte.
"""

import json, socket, sys
answers = []
for text in json.load(sys.stdin):
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 5) as s:
        answer = b""
        try:
            s.sendall(text.encode("latin-1"))
            s.settimeout(float(sys.argv[3]))
            while chunk := s.recv(65536): answer += chunk
        except (ConnectionError, TimeoutError): pass
        answers.append(answer.decode("latin-1"))
json.dump(answers, sys.stdout)
