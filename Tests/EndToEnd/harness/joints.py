"""Compares a file that several encoders made with that of one encoder: packets, lengths, other decoders, and noise at joints."""

import json
import math
import pathlib
import subprocess
import typing

import numpy
from decoding import SPEEX
from processes import Failed, check, run
from service import RESPOOL

# dB. The noise of several encoders over that of one at a single joint.
WORST = 5.0
# Decoders that must be quiet, besides ffmpeg.
DECODERS = {
    "mp3": ("mpg123", "-q", "-t", "{}"), "adts": ("faad", "-q", "-o", "/dev/null", "{}"), "m4a": ("faad", "-q", "-o", "/dev/null", "{}"),
    "opus": ("opusdec", "--quiet", "{}", "/dev/null"), "ogg": ("oggdec", "-Q", "-o", "/dev/null", "{}"), "flac": ("flac", "-s", "-t", "{}"),
}


class Case(typing.NamedTuple):
    """Settings of an output, and where its joints are: seconds of a segment, frames of which its start is a multiple, frames before
    the joint and behind it, and samples of a frame."""

    format: str
    options: tuple = ()
    seconds: int = 15
    period: int = 1
    lead: int = 0
    tail: int = 0
    frame: int = 4096
    # Whether the packets are those of one encoder.
    exact: bool = False
    # The size of the file may differ by so much, and its noise by so many dB.
    size: float = 0.005
    loss: float = 0.2
    # dB. The mean over all joints of the noise of several encoders over that of one may be so much higher than midway.
    joint: float = 1.0
    # dB. The same for the 95th percentile, of at least 20 joints.
    high: float = 1.0
    # Whether it is known where joints are.
    is_planned: bool = True
    # The frames behind the planned one among which the encoders choose the joint.
    choice: int = 0
    # The frames behind the planned one among which packets begin to differ from those of one encoder, if they do near the joint.
    search: int = 0
    highest_rate: int = 192000
    # Samples by which a decoder's output is late.
    late: int = 0

    def at(self, rate, channels=2):
        """The samples of a frame and the frames of a segment at a sample rate."""
        frame = self.frame // 2 if self.format == "mp3" and rate < 32000 else self.frame
        most = (24 << 20) // (frame * 4 * channels)
        frames = max(min(math.ceil(self.seconds * rate / frame), most), 2 * (self.lead + self.tail))
        return frame, math.ceil(frames / self.period) * self.period

    def length(self, rate, segments):
        """The seconds of so many segments."""
        rate = 48000 if self.format == "opus" else min(rate, self.highest_rate)
        frame, frames = self.at(rate)
        return math.ceil(segments * frame * frames / rate)


class Noise(typing.NamedTuple):
    """The noise of several encoders over that of one, in dB: at joints, and midway between them; the ratio of peaks at joints."""

    joints: list
    middles: list
    peaks: list


class Count:
    """What several encoders did in many pieces."""

    def __init__(self):
        self.pieces = self.divided = self.joints = self.fallbacks = 0
        self.noise = Noise([], [], [])
        self.losses, self.sizes, self.failures = [], [], []

    def add(self, title, source, folder, name, case, threads=(3, 4, 7)):
        self.pieces += 1
        try:
            noise, report, loss, size = compare(source, folder, name, case, threads)
        except Failed as failure:
            print(f"FAILED {title}: {failure}", flush=True)
            return self.failures.append(f"{title}: {failure}")
        if report:
            self.divided += 1
            self.joints += report["joints"]
            self.fallbacks += report["fallbacks"]
        self.losses.append(loss)
        self.sizes.append(size)
        for total, values in zip(self.noise, noise):
            total += values

    def row(self, name, material):
        """A row of the table of fallbacks."""
        places = self.joints + self.fallbacks
        share = f"{self.fallbacks / places:.1%}" if places else "–"
        return f"| {name} | {material} | {self.pieces} | {self.divided} | {self.joints} | {self.fallbacks} | {share} |"


def converted(source, folder, name, case, options, threads):
    """The path of the result, and its report."""
    path = folder / f"{threads}-{name}"
    words = ["--format", case.format, *options, "--threads", threads, "--overwrite", "replace", "--passthrough", "never"]
    return path, json.loads(run(RESPOOL, "convert", source, path, *words, "--json", seconds=300))


def packets(path):
    text = run("ffprobe", "-v", "error", "-show_packets", "-show_data_hash", "md5", "-of", "json", path)
    return json.loads(text)["packets"]


def times(packets):
    return [(packet.get("pts"), packet.get("duration"), packet.get("side_data_list")) for packet in packets]


def decode(path, rate, channels):
    """What ffmpeg decodes, with every complaint as an error."""
    decoder = SPEEX if path.suffix == ".spx" else []
    words = ["ffmpeg", "-nostdin", "-v", "error", "-xerror", *decoder, "-i", path, "-f", "f32le", "-ar", rate, "-ac", channels, "-"]
    outcome = subprocess.run([str(word) for word in words], capture_output=True, check=True, timeout=1000)
    check(not outcome.stderr, f"a decoder is quiet about {path.name}: {outcome.stderr[:300]}")
    return numpy.frombuffer(outcome.stdout, "<f4").reshape(-1, channels)


def heard(path, format):
    """Decodes with the decoder of another project, which must not complain."""
    words = [word.format(path) for word in DECODERS.get(format, ())]
    if not words:
        return
    outcome = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=1000)
    check(outcome.returncode == 0 and not outcome.stderr.strip(), f"{words[0]} is quiet about {path.name}: {outcome.stderr[-300:]}")


def power(wave):
    return float((wave.astype(float) ** 2).sum())


def excess(errors):
    return 10 * math.log10(max(power(errors[1]), 1e-12) / max(power(errors[0]), 1e-12))


def joints(digests, serial, case, planned):
    """The frames that may be the joint: the planned one, or if encoders choose, the first ones that are others than those of one
    encoder, because bytes of the joint may be in frames before. If frames before are others too, all that may be chosen. If encoders are
    joined where they make the same packets, the first ones behind that are others."""
    last = min(planned + max(case.choice, case.search), len(digests) - 1, len(serial) - 1)
    if case.search:
        first = next((frame for frame in range(planned, last + 1) if digests[frame] != serial[frame]), planned)
        return range(first, first + 4)
    if not case.choice or digests[planned - 4] != serial[planned - 4]:
        return range(planned, max(planned, last) + 1)
    first = next((frame for frame in range(planned - 3, last + 1) if digests[frame] != serial[frame]), planned)
    return range(max(first, planned), first + 4)


def noise(source, one, several, case, rate, digests, serial):
    half = rate // 20
    frame, segment = case.at(rate, source.shape[1])
    found = Noise([], [], [])
    for shift, values in ((0, found.joints), (segment // 2, found.middles)):
        for number in range(1, len(source) // (segment * frame) + 1):
            planned = number * segment + case.lead
            worst = []
            for place in [planned + shift] if shift else joints(digests, serial, case, planned):
                span = slice(place * frame - half, place * frame + half)
                if span.stop > min(len(source), len(one), len(several)) or power(source[span]) < 1e-3:
                    continue
                errors = [source[span] - result[span] for result in (one, several)]
                # The noise of these codecs in music is around 25 dB below the signal.
                if power(errors[1]) >= power(source[span]) * 10**-3.5:
                    worst.append((excess(errors), abs(errors[1]).max() / max(abs(errors[0]).max(), 1e-4)))
            if worst:
                values.append(max(value for value, _ in worst))
                if shift == 0:
                    found.peaks.append(max(peak for _, peak in worst))
    return found


def compare(source, folder, name, case, threads=(3, 4, 7), options=None):
    """Checks one piece; returns its noise, the report of its encoders, dB of noise more in the whole file, and the growth of its
    size."""
    options = case.options if options is None else options
    extension = {"alac": "m4a", "speex": "spx"}.get(case.format, case.format)
    one, alone = converted(source, folder, f"o.{extension}", case, options, 1)
    check(alone["encoders"] is None, f"{name}: there is one encoder with one thread")
    serial = None if case.exact else packets(one)
    first, report = None, None
    for count in threads:
        path, output = converted(source, folder, f"o.{extension}", case, options, count)
        report = output["encoders"]
        if case.exact:
            check(path.read_bytes() == one.read_bytes(), f"{name}: {count} encoders make the bytes of one")
            check(report["fallbacks"] == 0, f"{name}: no encoder went on")
            continue
        joined = packets(path)
        if not report:
            # The serial numbers of Ogg streams differ, and so do the bytes.
            check([packet["data_hash"] for packet in joined] == [packet["data_hash"] for packet in serial], f"{name}: there is one encoder")
            continue
        check(times(joined) == times(serial), f"{name}: {count} encoders make packets with the times of one")
        digests = [packet["data_hash"] for packet in joined]
        check(first in (None, digests), f"{name}: the packets do not depend on the number of threads")
        first = digests
    size = path.stat().st_size / one.stat().st_size - 1
    heard(path, case.format)
    if case.exact or not report:
        return Noise([], [], []), report, 0, 0
    check(abs(size) <= case.size, f"{name}: the size differs by {size:+.3%}")
    stream = json.loads(run("ffprobe", "-v", "error", "-show_streams", "-of", "json", path))["streams"][0]
    rate, channels = int(stream["sample_rate"]), stream["channels"]
    original = decode(source, rate, channels)
    results = [decode(made, rate, channels)[case.late :] for made in (one, path)]
    check(len(results[0]) == len(results[1]), f"{name}: the lengths are equal")
    count = min(len(original), len(results[0]))
    errors = [original[:count] - result[:count] for result in results]
    loss = excess(errors) if power(errors[1]) > 1e-9 * count else 0
    # With fewer bits than the noise of the source needs, more noise would be no fault; synthetic tones need few.
    check(loss <= case.loss, f"{name}: the noise of the file is {loss:+.2f} dB of that of one encoder")
    found = Noise([], [], [])
    if case.is_planned:
        found = noise(original, *results, case, rate, first, [packet["data_hash"] for packet in serial])
    return found, report, loss, size


def high(values):
    """The 95th percentile."""
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else 0


def spread(values):
    """The mean, the 95th percentile and the highest."""
    return f"{sum(values) / len(values):+.2f}, {high(values):+.2f}, {max(values):+.2f}" if values else "none"


def judge(name, case, noise):
    joints, middles, peaks = noise
    if not joints:
        return
    mean, worst = sum(joints) / len(joints), max(joints)
    level = sum(middles) / len(middles) if middles else 0
    print(f"{name}: noise (mean, 95 %, worst) at {len(joints)} joints {spread(joints)} dB, midway {spread(middles)} dB, peak {max(peaks):.2f}")
    check(mean <= max(level, 0) + case.joint and worst <= WORST and max(peaks) < 2, f"{name}: joints are no noisier than the rest")
    # Of few joints, it is the highest one.
    check(len(joints) < 20 or high(joints) <= max(high(middles), 0) + case.high, f"{name}: nearly all joints are as quiet as the rest")
