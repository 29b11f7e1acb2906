"""Passes bytes on between clients and a server; at SIGUSR1 it forgets its connections, and keeps them open.

stalling_proxy.py SOCKET UPSTREAM
"""

import signal, socket, sys, threading
lost, pairs = set(), []
def lose(*_):
    lost.update(pairs)
    print("lost", len(lost))
signal.signal(signal.SIGUSR1, lose)
def carry(source, target, pair):
    while True:
        try: data = source.recv(65536)
        except OSError: break
        if not data: break
        if pair not in lost: target.sendall(data)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
def serve():
    while True:
        near, _ = listener.accept()
        far = socket.socket(socket.AF_UNIX)
        far.connect(sys.argv[2])
        pairs.append((near, far))
        for ends in ((near, far), (far, near)):
            threading.Thread(target=carry, args=(*ends, (near, far)), daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
print("ready")
while True: signal.pause()
