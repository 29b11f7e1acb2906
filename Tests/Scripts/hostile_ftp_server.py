"""An FTP server on 127.0.0.2 that does what its argument says, and a listener on 127.0.0.1 that nobody may come to.

Prints its port, the commands, `SENT` with the bytes that went out where they had no end, and `BAIT` where somebody came. It ends
with its standard input.
"""

import socket, sys, threading

behaviour = sys.argv[1]
lock = threading.Lock()

def say(*words):
    with lock: print(*words, flush=True)

def flood(connection, first, piece):
    sent = 0
    try:
        connection.sendall(first)
        while sent < 1 << 28:
            connection.sendall(piece)
            sent += len(piece)
    except OSError: pass
    say("SENT", sent)

floods = {"greeting": (b"", b"220-%s\r\n" % (b"x" * 60)), "noise": (b"", b"no reply at all\r\n"), "line": (b"220-", b"x" * 1000),
    "reply": (b"", b"331-%s\r\n" % (b"x" * 60)), "folder": (b'257 "/', b"x" * 1000)}

def serve(connection):
    if behaviour in ("greeting", "noise", "line"): return flood(connection, *floods[behaviour])
    connection.sendall(b"220 Ready\r\n")
    for line in connection.makefile("rb"):
        word = line.split()[0].decode()
        say(word)
        if (behaviour, word) in (("reply", "USER"), ("folder", "PWD")): return flood(connection, *floods[behaviour])
        answer = {"USER": "230 Come in", "PWD": '257 "/"', "EPSV": "500 What?", "SIZE": "213 1000", "MDTM": "213 20200101000000",
            "PASV": "227 Here (169,254,169,254,0,80)", "RETR": "150 Comes", "QUIT": "221 Bye"}.get(word, "200 Well")
        if word == "EPSV" and behaviour == "port": answer = "229 Here (|1|127.0.0.1|%d|)" % bait
        if word == "PASV" and behaviour != "metadata": answer = "227 Here (127,0,0,1,%d,%d)" % divmod(bait, 256)
        connection.sendall(answer.encode() + b"\r\n")

def accept(listener, use):
    while True: threading.Thread(target=use, args=(listener.accept()[0],), daemon=True).start()

def lay():
    # Nobody else may listen there on the server's own address.
    while True:
        baited, own = socket.create_server(("127.0.0.1", 0)), socket.socket()
        try: own.bind(("127.0.0.2", baited.getsockname()[1]))
        except OSError: continue
        return baited, own

baited, own = lay()
bait = baited.getsockname()[1]
threading.Thread(target=accept, args=(baited, lambda connection: say("BAIT")), daemon=True).start()
listener = socket.create_server(("127.0.0.2", 0))
say(listener.getsockname()[1])
threading.Thread(target=accept, args=(listener, serve), daemon=True).start()
sys.stdin.read()
