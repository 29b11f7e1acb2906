"""Counts the files that appear in a folder."""

import collections
import ctypes
import os
import struct
import threading

MOVED_TO = 0x80


class Appearances:
    """Counts how often each name appeared in a folder, with inotify."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.file = os.fdopen(libc.inotify_init1(0), "rb", buffering=0)
        libc.inotify_add_watch(self.file.fileno(), folder.encode(), MOVED_TO)
        self.counts = collections.Counter()
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        while data := self.file.read(1 << 16):
            while data:
                length = struct.unpack("iIII", data[:16])[3]
                self.counts[data[16:16 + length].rstrip(b"\0").decode()] += 1
                data = data[16 + length:]
