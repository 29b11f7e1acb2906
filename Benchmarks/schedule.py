"""The schedule of Sources/Encoders/SegmentPool.swift, to tell from measured times how long more cores would take."""

import collections
import math
import typing

# Seconds of a step of the simulation.
STEP = 0.0002


class Segment:
    """A segment whose encoder is fed the audio between two times, in seconds."""

    def __init__(self, start):
        self.start = self.place = start
        self.end = math.inf


class Schedule(typing.NamedTuple):
    """Seconds of a segment, of what an encoder gets besides, and of what the check of a joint waits for."""

    length: float
    overlap: float
    around: float

    def count(self, total):
        """The segments of a source."""
        count = math.ceil(total / self.length)
        # The last one is not needed if it begins within the overlap of the one before.
        return count - 1 if count > 1 and (count - 1) * self.length + self.overlap > total else count

    def seconds(self, total, cores, decode, encode):
        """Seconds until a source is converted on so many cores by as many threads. Decoding takes the CPU seconds `decode`;
        encoding takes `encode` with the overlaps. The threads share the cores evenly."""
        decode /= total
        encode /= total + (self.count(total) - 1) * self.overlap
        segments = collections.deque([Segment(0)])
        decoded, boundary, clock = 0, self.length, 0
        while True:
            while len(segments) > 1 and segments[0].place >= segments[0].end and segments[1].place >= min(
                    total, segments[1].start + self.overlap + self.around):
                segments.popleft()
            if len(segments) == 1 and segments[0].place >= total:
                return clock
            rest = [segment for segment in segments if segment.place < min(segment.end, total)]
            # One segment is decoded before a thread is free for it.
            if decoded == boundary < total and len(segments) <= cores and len(rest) <= cores:
                segments[-1].end = min(boundary + self.overlap, total)
                segments.append(Segment(boundary))
                boundary += self.length
            busy = [segment for segment in rest[:cores] if segment.place < min(decoded, segment.end)]
            limit = min(boundary, total)
            pace = STEP * min(1, cores / max(len(busy) + (decoded < limit), 1))
            for segment in busy:
                segment.place = min(segment.place + pace / encode, decoded, segment.end)
            decoded = min(decoded + pace / decode, limit)
            clock += STEP
