"""A TCP proxy for Redis that loses replies, holds bytes back, delays them, cuts connections, or acts at a script."""

import hashlib
import socket
import threading
import time

import lua_scripts
from processes import run
from service import PROGRAMS

NAMES = dict(zip(run(PROGRAMS / "queue-walk", *lua_scripts.SCRIPTS).split(), lua_scripts.SCRIPTS, strict=True))


class Proxy:
    """Forwards bytes to `upstream`, the path of Redis' unix socket; `traps` and the switches below cause faults.

    `flows` cleared: holds all bytes back, in both directions. `lateness`: seconds by which each reply is delayed.
    `every`: cuts the connection instead of forwarding every n-th reply. `seen` counts the scripts that were replied to,
    by name.
    """

    # The beginnings of empty replies.
    EMPTY = {"claim": b"*4\r", "claim_callbacks": b"*0\r"}

    def __init__(self, upstream):
        self.upstream = upstream
        self.flows = threading.Event()
        self.flows.set()
        self.lateness = 0
        self.every = None
        self.cuts = 0
        self.replies = 0
        self.seen = {}
        self.traps = []
        self.links = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            near, _ = self.listener.accept()
            link = Link(self, near)
            threading.Thread(target=link.run, daemon=True).start()

    def trap(self, script, moment, action=lambda: None):
        """Acts once at the next request (before Redis has it) or reply (before the client has it) of a script, then
        cuts.

        Returns an event that is set afterwards. The reply of a `claim` or `claim_callbacks` counts only if it is not
        empty.
        """
        done = threading.Event()
        self.traps.append((script, moment, action, done))
        return done

    def spring(self, script, moment, data=b""):
        for trap in self.traps:
            if trap[:2] == (script, moment) and (moment == "request" or data and data[:3] != self.EMPTY.get(script)):
                self.traps.remove(trap)
                trap[2]()
                trap[3].set()
                return True
        return False

    def cut(self):
        """Cuts all connections."""
        for link in list(self.links):
            link.close()


class Link:
    """One connection."""

    def __init__(self, proxy, near):
        self.proxy = proxy
        self.near = near
        self.far = socket.socket(socket.AF_UNIX)
        self.request = b""
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.proxy.links.discard(self)
        for end in (self.near, self.far):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def run(self):
        try:
            self.far.connect(self.proxy.upstream)
        except OSError:
            return self.near.close()
        self.proxy.links.add(self)
        threads = [threading.Thread(target=self.carry, args=way, daemon=True)
                   for way in ((self.near, self.far, self.asks), (self.far, self.near, self.answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.near.close()
        self.far.close()

    def carry(self, source, target, passes):
        try:
            while data := source.recv(1 << 18):
                self.proxy.flows.wait()
                if not passes(data):
                    break
                target.sendall(data)
        except OSError:
            pass
        self.close()

    def asks(self, data):
        # A connection has one active request at a time, so the bytes before its reply are one request.
        self.request += data
        return not self.proxy.spring(self.script(), "request")

    def answers(self, data):
        proxy, script = self.proxy, self.script()
        self.request = b""
        proxy.replies += 1
        if proxy.lateness:
            time.sleep(proxy.lateness)
        if script:
            proxy.seen[script] = proxy.seen.get(script, 0) + 1
        if proxy.every and proxy.replies % proxy.every == 0:
            proxy.cuts += 1
            return False
        return not proxy.spring(script, "reply", data)

    def script(self):
        """The name of the script that the request runs."""
        parts = self.request.split(b"\r\n", 5)
        if len(parts) < 6 or parts[2] not in (b"EVAL", b"EVALSHA"):
            return None
        if parts[2] == b"EVALSHA":
            return NAMES.get(parts[4])
        source = self.request[len(b"\r\n".join(parts[:4])) + 2:][:int(parts[3][1:])]
        return NAMES.get(hashlib.sha1(source).hexdigest().encode())
