"""One file that several encoders made, beside the same file of one encoder.

The subset, which is `long`, takes synthetic material. With `-m soak` (`make joints`), real music of Debian's supertux-data is
taken too. Packets must have equal times, and not depend on the number of threads; what a decoder gives is compared with the
source around each joint, and for comparison midway between joints.
"""

import hashlib
import json
import math
import pathlib
import subprocess
import typing

import numpy
import pytest
from processes import run
from service import RESPOOL, check
from sound import ffmpeg

MUSIC = pathlib.Path("/usr/share/games/supertux2/music")
SECONDS = 150
# dB. The noise of several encoders over that of one at a single joint.
WORST = 5.0


class Case(typing.NamedTuple):
    """Settings of an output, and where its joints are: frames in a segment, frames before the joint, samples in a frame."""

    format: str
    options: tuple
    segment: int = 0
    lead: int = 0
    frame: int = 0
    rate: int = 44100
    # The size of the file may differ by so much, and its noise by so many dB.
    size: float = 0.005
    loss: float = 0.2
    # dB. The mean over all joints of the noise of several encoders over that of one may be so much higher than midway.
    joint: float = 1.0


CASES = {
    "mp3 128k": Case("mp3", ("--bit-rate", "128k"), 588, 4, 1152, size=0),
    "mp3 V2": Case("mp3", ("--quality", "2"), 588, 4, 1152),
    "mp3 320k 48 kHz": Case("mp3", ("--bit-rate", "320k", "--sample-rate", "48000"), 735, 4, 1152, 48000, size=0),
    "mp3 mono 22 kHz": Case("mp3", ("--bit-rate", "56k", "--sample-rate", "22050", "--channels", "1"), 588, 4, 576, 22050, size=0),
    "mp3 stereo 16 kHz": Case("mp3", ("--bit-rate", "32k", "--sample-rate", "16000"), 441, 4, 576, 16000, size=0),
    "opus 96k": Case("opus", ("--bit-rate", "96k"), 750, 24, 960, 48000),
    "opus 64k": Case("opus", ("--bit-rate", "64k"), 750, 24, 960, 48000, size=0.02, loss=0.5),
    # 64 frames after its start, its rate control still changes: 2.6 dB more in noise, less in music.
    "aac 128k": Case("m4a", ("--bit-rate", "128k"), 2584, 64, 1024, size=0.02, joint=3.0),
    "aac adts 96k mono": Case("adts", ("--bit-rate", "96k", "--channels", "1"), 2584, 64, 1024, size=0.02),
    "vorbis q5": Case("ogg", ("--quality", "5")),
    "vorbis q2 48 kHz": Case("ogg", ("--quality", "2", "--sample-rate", "48000"), rate=48000),
}
EXACT = {
    "flac": ("flac",), "flac 24": ("flac", "--sample-format", "s24"), "flac mono": ("flac", "--channels", "1"),
    "alac": ("alac",), "tta": ("tta",), "ac3": ("ac3",), "ac3 160k 48 kHz": ("ac3", "--bit-rate", "160k", "--sample-rate", "48000"),
    "ac3 5.1": ("ac3", "--channels", "6"), "flac 5.1": ("flac", "--channels", "6"),
}


def waves():
    """Synthetic material by name: stereo between -1 and 1."""
    time = numpy.arange(SECONDS * 44100) / 44100
    chance = numpy.random.default_rng(1)
    sweep = numpy.sin(2 * math.pi * 30 * SECONDS / math.log(500) * (numpy.exp(time / SECONDS * math.log(500)) - 1))
    clicks = numpy.exp(-(time % 0.173) * 900) * chance.standard_normal(len(time))
    gates = numpy.where(time % 6.6 < 3.3, numpy.sin(2 * math.pi * 997 * time), 0)
    tune = sum(numpy.sin(2 * math.pi * 110 * step * time + 2 * numpy.sin(2 * math.pi * 0.3 * step * time)) / step for step in (1, 2, 3, 5))
    noise = chance.standard_normal(len(time)) * (1 + numpy.sin(2 * math.pi * 0.7 * time))
    pairs = {"sweep": (sweep, sweep * 0.5), "castanets": (clicks, numpy.roll(clicks, 441)), "gates": (gates, gates),
             "tune": (tune + 0.1 * noise, tune), "noise": (noise, numpy.roll(noise, 999))}
    return {name: numpy.stack(pair, 1) / max(abs(side).max() for side in pair) * 0.9 for name, pair in pairs.items()}


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    for name, wave in waves().items():
        (folder / "raw").write_bytes((wave * 32767).astype("<i2").tobytes())
        ffmpeg("-f", "s16le", "-ar", 44100, "-ac", 2, "-i", folder / "raw", folder / f"{name}.wav")
    (folder / "raw").unlink()
    return sorted(folder.glob("*.wav"))


def music(folder):
    """Pieces of music, one after the other."""
    for source in sorted(MUSIC.rglob("*.ogg")):
        seconds = float(run("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", source))
        if seconds >= 40:
            ffmpeg("-stream_loop", 4, "-i", source, "-t", SECONDS, "-ac", 2, "-ar", 44100, "-c:a", "pcm_s16le", folder / "piece.wav")
            yield source.stem, folder / "piece.wav"


def converted(source, folder, name, options, threads):
    """The path of the result, and its report."""
    path = folder / f"{threads}-{name}"
    words = ["--format", options[0], *options[1:], "--threads", threads, "--overwrite", "replace", "--passthrough", "never"]
    return path, json.loads(run(RESPOOL, "convert", source, path, *words, "--json", seconds=300))


def packets(path):
    text = run("ffprobe", "-v", "error", "-show_packets", "-show_data_hash", "md5", "-of", "json", path)
    return json.loads(text)["packets"]


def times(packets):
    return [(packet.get("pts"), packet.get("duration"), packet.get("side_data_list")) for packet in packets]


def decode(path, rate, channels):
    """What ffmpeg decodes, with every complaint as an error."""
    words = ["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", path, "-f", "f32le", "-ar", rate, "-ac", channels, "-"]
    outcome = subprocess.run([str(word) for word in words], capture_output=True, check=True, timeout=300)
    check(not outcome.stderr, f"a decoder is quiet about {path.name}: {outcome.stderr[:300]}")
    return numpy.frombuffer(outcome.stdout, "<f4").reshape(-1, channels)


def power(wave):
    return float((wave.astype(float) ** 2).sum())


def noise(source, one, several, case):
    """Of several encoders over that of one, in dB: at joints, and midway between them; and the ratio of peaks at joints."""
    half = case.rate // 20
    found = {0: [], case.segment // 2: []}
    peaks = []
    for shift, values in found.items():
        for number in range(1, len(source) // (case.segment * case.frame) + 1):
            place = (number * case.segment + case.lead + shift) * case.frame
            span = slice(place - half, place + half)
            if place + half > min(len(source), len(one), len(several)) or power(source[span]) < 1e-3:
                continue
            errors = [source[span] - result[span] for result in (one, several)]
            # The noise of these codecs in music is around 25 dB below the signal.
            if power(errors[1]) < power(source[span]) * 10**-3.5:
                continue
            values.append(10 * math.log10(max(power(errors[1]), 1e-12) / max(power(errors[0]), 1e-12)))
            if shift == 0:
                peaks.append(abs(errors[1]).max() / max(abs(errors[0]).max(), 1e-4))
    return *found.values(), peaks


def compare(source, folder, name, case):
    """Checks one case, and returns its noise at joints, midway between them, and its report."""
    extension = case.format
    one, _ = converted(source, folder, f"o.{extension}", (case.format, *case.options), 1)
    serial = packets(one)
    first, report = None, None
    for threads in (3, 4, 7):
        path, output = converted(source, folder, f"o.{extension}", (case.format, *case.options), threads)
        joined = packets(path)
        check(times(joined) == times(serial), f"{name}: {threads} encoders make packets with the times of one")
        digests = [packet["data_hash"] for packet in joined]
        check(first in (None, digests), f"{name}: the packets do not depend on the number of threads")
        first, report = digests, output["encoders"]
    size = path.stat().st_size / one.stat().st_size - 1
    check(abs(size) <= case.size, f"{name}: the size differs by {size:+.3%}")
    channels = 1 if "--channels" in case.options else 2
    original = decode(source, case.rate, channels)
    results = decode(one, case.rate, channels), decode(path, case.rate, channels)
    check(len(results[0]) == len(results[1]), f"{name}: the lengths are equal")
    count = min(len(original), len(results[0]))
    loss = 10 * math.log10(max(power(original[:count] - results[1][:count]), 1e-9) / max(power(original[:count] - results[0][:count]), 1e-9))
    # With fewer bits than the noise of the source needs, more noise would be no fault; synthetic tones need few.
    check(loss <= case.loss, f"{name}: the noise of the file is {loss:+.2f} dB of that of one encoder")
    joints = noise(original, *results, case) if case.segment else ([], [], [])
    return joints, report


def judge(name, case, joints, middles, peaks):
    if not joints:
        return
    mean, worst = sum(joints) / len(joints), max(joints)
    level = sum(middles) / len(middles) if middles else 0
    print(f"{name}: noise at {len(joints)} joints {mean:+.2f} dB (worst {worst:+.2f}), midway {level:+.2f} dB, peak {max(peaks):.2f}")
    check(mean <= max(level, 0) + case.joint and worst <= WORST and max(peaks) < 2, f"{name}: joints are no noisier than the rest")


@pytest.mark.long
@pytest.mark.parametrize("name", EXACT)
def test_exact_joints_give_the_bytes_of_one_encoder(material, tmp_path, name):
    for source in material[:2] + material[-1:]:
        extension = "m4a" if EXACT[name][0] == "alac" else EXACT[name][0]
        results = [converted(source, tmp_path, f"o.{extension}", EXACT[name], threads) for threads in (1, 3, 4, 7)]
        digests = {hashlib.md5(path.read_bytes()).hexdigest() for path, _ in results}
        check(len(digests) == 1, f"{source.stem}: four files with the same bytes")
        check(all(report["encoders"]["joints"] >= 7 for _, report in results[1:]), "they have several segments")
        check(all(report["encoders"]["fallbacks"] == 0 for _, report in results[1:]), "no encoder went on")
        if extension == "flac":
            run("flac", "-st", results[-1][0])


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_joints_are_no_noisier_than_the_rest(material, tmp_path, name):
    joints, fallbacks = 0, 0
    for source in material:
        noises, report = compare(source, tmp_path, f"{name}, {source.stem}", CASES[name])
        judge(f"{name}, {source.stem}", CASES[name], *noises)
        joints, fallbacks = joints + report["joints"], fallbacks + report["fallbacks"]
    print(f"{name}: {joints} joints, {fallbacks} fallbacks")
    check(joints > 0, "some joints were found")


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES)
def test_joints_in_music(tmp_path, name):
    if not MUSIC.exists():
        pytest.skip("supertux-data is not installed")
    totals, counts = ([], [], []), [0, 0]
    for title, source in music(tmp_path):
        noises, report = compare(source, tmp_path, f"{name}, {title}", CASES[name])
        for total, values in zip(totals, noises):
            total += values
        counts = [counts[0] + report["joints"], counts[1] + report["fallbacks"]]
    judge(name, CASES[name], *totals)
    print(f"{name}: {counts[0]} joints, {counts[1]} fallbacks")
    limit = 0.1 if CASES[name].format == "ogg" else 0.02
    check(counts[1] <= limit * sum(counts), "few encoders went on")
