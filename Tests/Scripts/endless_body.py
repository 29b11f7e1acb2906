"""Sends a chunked body until the server answers, and prints how many bytes it sent and the answer: endless_body.py PORT PATH [tls]."""

import json, select, socket, ssl, sys
port, path = int(sys.argv[1]), sys.argv[2]
with socket.create_connection(("127.0.0.1", port), 60) as s:
    if "tls" in sys.argv: s = ssl._create_unverified_context().wrap_socket(s)
    s.sendall(f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    chunk, sent, answer = b"4000\r\n" + bytes(0x4000) + b"\r\n", 0, b""
    s.settimeout(60)
    try:
        while sent < 64 << 20 and not select.select([s], [], [], 0)[0]:
            s.sendall(chunk)
            sent += len(chunk)
        while part := s.recv(65536): answer += part
    except (ConnectionError, ssl.SSLError): pass
json.dump({"sent": sent, "answer": answer.decode("latin-1")}, sys.stdout)
