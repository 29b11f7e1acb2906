"""Sends each text of a JSON list on its own connection, and prints the answers as a JSON list: raw_exchange.py HOST PORT SECONDS
[tls] [from=ADDRESS] [together].

An answer ends when the server closes the connection, or after that many seconds without a byte. A HOST that begins with / is a
Unix socket. With `together`, all texts are sent before the first answer is read.
"""

import json, socket, ssl, sys
host, port, seconds, words = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
source = [word.removeprefix("from=") for word in words if word.startswith("from=")]

def send(text):
    s = socket.socket(socket.AF_UNIX) if host.startswith("/") else socket.create_connection(
        (host, port), 60, (source[0], 0) if source else None)
    if host.startswith("/"): s.connect(host)
    if "tls" in words: s = ssl._create_unverified_context().wrap_socket(s)
    try: s.sendall(text.encode("latin-1"))
    except (ConnectionError, TimeoutError, ssl.SSLError): pass
    return s

def receive(s):
    answer = b""
    with s:
        try:
            s.settimeout(seconds)
            while chunk := s.recv(65536): answer += chunk
        except (ConnectionError, TimeoutError, ssl.SSLError): pass
    return answer.decode("latin-1")

texts = json.load(sys.stdin)
json.dump([receive(s) for s in [send(text) for text in texts]] if "together" in words else [receive(send(text)) for text in texts], sys.stdout)
