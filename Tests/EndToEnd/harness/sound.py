"""Generates audio with known samples, and decodes files with decoders other than respool's."""

import array
import hashlib
import json
import math
import random
import sys
import wave

from processes import Failed, check, run

RATE = 44100
SPEECH = ("-ar", "8000", "-ac", "1")
# Names of sources, and ffmpeg's options for them.
SOURCES = {
    "a.wav": (), "a.flac": (), "a.mp3": (), "a.m4a": (), "a.ogg": ("-c:a", "libvorbis"), "a.opus": (), "a.aiff": (),
    "alac.caf": ("-c:a", "alac"), "a.au": (), "a.w64": (), "a.wv": (), "a.tta": (), "a.aac": (), "a.ac3": (), "a.eac3": (),
    "a.mp2": (), "a.wma": (), "a.webm": ("-c:a", "libopus"), "a.mka": ("-c:a", "flac"), "ima4.mov": ("-c:a", "adpcm_ima_qt"),
    "fragments.mp4": ("-c:a", "aac", "-movflags", "empty_moov+default_base_moof", "-frag_duration", "500000"),
    "mp3.avi": ("-c:a", "libmp3lame"), "aac.ts": ("-c:a", "aac"), "mp3.flv": ("-c:a", "libmp3lame"),
    "dts.dts": ("-c:a", "dca", "-strict", "-2"), "a.thd": ("-strict", "-2"), "a.spx": SPEECH, "a.gsm": SPEECH,
    "hls.m3u8": ("-c:a", "aac", "-hls_time", "1", "-hls_playlist_type", "vod"),
}


def write(path, samples, channels=1):
    """Writes 16-bit samples at 44.1 kHz, interleaved, as WAV."""
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes() if isinstance(samples, array.array) else samples)


def melody(seconds, seed=1, channels=1):
    """Notes of a quarter of a second in random order, so that each moment differs from every other."""
    length = RATE // 4
    chance = random.Random(seed)
    notes = []
    for _ in range(48):
        step = 2 * math.pi * chance.uniform(500, 5000) / RATE
        fade = [min(1, n / 400, (length - n) / 400) for n in range(length)]
        note = array.array("h", (round(9000 * fade[n] * math.sin(step * n)) for n in range(length)))
        notes.append(array.array("h", (sample for sample in note for _ in range(channels))).tobytes())
    whole = b"".join(chance.choice(notes) for _ in range(math.ceil(seconds * 4)))
    return whole[:round(seconds * RATE) * 2 * channels]


def ffmpeg(*words):
    return run("ffmpeg", "-nostdin", "-v", "error", "-y", *words, seconds=1000)


def encode(wav, path, *words):
    ffmpeg("-i", wav, *words, path)
    return path


def decode(path):
    """All samples of a file as ffmpeg decodes them: 16 bits, interleaved, little-endian."""
    return ffmpeg("-i", path, "-f", "s16le", "-c:a", "pcm_s16le", "-")


def samples(raw):
    found = array.array("h", raw)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def probe(path):
    return json.loads(run("ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", path))


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same(found, expected, what):
    """Expects the same samples of 16 bits, of which each is two bytes, and reports where they begin to differ."""
    if found != expected:
        first = next((n for n in range(0, min(len(found), len(expected)), 2) if found[n:n + 2] != expected[n:n + 2]), None)
        where = "the first ones are equal" if first is None else (
            f"sample {first // 2} is {samples(found[first:first + 2])[0]} instead of {samples(expected[first:first + 2])[0]}")
        raise Failed(f"{what}: {len(found) // 2} samples of {len(expected) // 2}, {where}")


def decibels(expected, found):
    """Signal-to-noise ratio in dB of samples against expected ones."""
    check(len(expected) == len(found) and len(expected) > 0, "runs of different lengths cannot be compared")
    signal = sum(a * a for a in expected)
    noise = sum((a - b) ** 2 for a, b in zip(expected, found))
    return 10 * math.log10(signal / noise) if noise else math.inf
