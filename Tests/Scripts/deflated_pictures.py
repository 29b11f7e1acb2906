"""Writes an ID3 tag with two deflated pictures of 12 MiB each, in 24 KB, to the file of its argument.
"""

import struct, sys, zlib
safe = lambda n: bytes([n >> 21 & 127, n >> 14 & 127, n >> 7 & 127, n & 127])
picture = bytes([0]) + b"image/png" + bytes([0, 3, 0]) + bytes(12 << 20)
body = struct.pack(">I", len(picture)) + zlib.compress(picture)
frame = b"APIC" + safe(len(body)) + bytes([0, 9]) + body
text = b"TIT2" + safe(6) + bytes([0, 0, 3]) + b"Title"
frames = text + 2 * frame
open(sys.argv[1], "wb").write(b"ID3" + bytes([4, 0, 0]) + safe(len(frames)) + frames)
