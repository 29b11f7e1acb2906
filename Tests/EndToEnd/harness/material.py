"""Pieces of sound for tests of codecs: synthetic ones, and music of Debian's packages."""

import functools
import math
import pathlib
import subprocess

import numpy
from processes import run
from sound import ffmpeg

GAMES = pathlib.Path("/usr/share/games")
MUSIC = [GAMES / "supertux2/music", GAMES / "wesnoth/1.18/data/core/music", GAMES / "wesnoth/1.16/data/core/music"]
RATES = 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 192000


def waves(seconds, rate=44100):
    """Synthetic material by name: functions that return stereo between -1 and 1."""
    time = numpy.arange(round(seconds * rate)) / rate
    chance = numpy.random.default_rng(1)

    def white():
        return chance.standard_normal(len(time))

    def tune():
        return sum(numpy.sin(2 * math.pi * 110 * step * time + 2 * numpy.sin(2 * math.pi * 0.3 * step * time)) / step for step in (1, 2, 3, 5))

    def noise():
        return white() * (1 + numpy.sin(2 * math.pi * 0.7 * time))

    def scaled(left, right=None, level=0.9):
        right = left if right is None else right
        most = max(abs(left).max(), abs(right).max(), 1e-9)
        return numpy.stack((left, right), 1) / most * level

    def sweep():
        # Up to 0.45 of the rate, at most 15 kHz.
        steps = math.log(min(15000, 0.45 * rate) / 30)
        wave = numpy.sin(2 * math.pi * 30 * seconds / steps * (numpy.exp(time / seconds * steps) - 1))
        return scaled(wave, wave * 0.5)

    def castanets():
        wave = numpy.exp(-(time % 0.173) * 900) * white()
        return scaled(wave, numpy.roll(wave, rate // 100))

    return {
        "sweep": sweep, "castanets": castanets,
        "gates": lambda: scaled(numpy.where(time % 6.6 < 3.3, numpy.sin(2 * math.pi * 997 * time), 0)),
        "tune": lambda: scaled(tune() + 0.1 * noise(), tune()),
        "noise": lambda: (lambda wave: scaled(wave, numpy.roll(wave, 999)))(noise()),
        "silence": lambda: numpy.zeros((len(time), 2)),
        "full scale": lambda: scaled(numpy.sign(white()), numpy.sign(white()), 1),
        "faint": lambda: scaled(white(), white(), 3e-4),
        "impulses": lambda: scaled((numpy.arange(len(time)) % (rate // 3) == 0).astype(float)),
        "square": lambda: scaled(numpy.sign(numpy.sin(2 * math.pi * 55 * time)), level=0.7),
    }


def write_wave(path, wave, rate):
    """Writes 16 bits of a wave with a column for each channel."""
    words = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "s16le", "-ar", str(rate), "-ac", str(wave.shape[1]), "-i", "-", str(path)]
    subprocess.run(words, input=(wave * 32767).astype("<i2").tobytes(), check=True)


def synthetic(folder, count, seconds):
    """Pieces of synthetic sound with a number of channels: each kind at several rates, mono, stereo and 5.1. `seconds` gives the
    length for a rate and a number of channels."""
    for number in range(count):
        kind, variant = number % 10, (number + number // 10) % 5
        rate, channels = [(44100, 2), (48000, 6), (RATES[2 * kind % 12], 1), (RATES[(2 * kind + 1) % 12], 2), (RATES[(2 * kind + 5) % 12], 2)][variant]
        name, make = list(waves(seconds(rate, channels), rate).items())[kind]
        wave = make()
        if channels == 1:
            wave = wave[:, :1]
        elif channels == 6:
            wave = wave @ numpy.array([[1, 0, 0.5, 0.2, 0, 0.5], [0, 1, 0.5, 0.1, 0.5, 0]])
        path = folder / "piece.wav"
        write_wave(path, wave, rate)
        yield f"{name}, {rate} Hz, {channels} ch", path, rate, channels


@functools.cache
def tracks():
    """The paths of music and its seconds, sorted by name, so that both packages are mixed."""
    found = []
    for source in sorted((path for place in MUSIC for path in place.rglob("*.ogg")), key=lambda path: path.name):
        length = float(run("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", source))
        if length >= 30:
            found.append((source, length))
    return found


def music(folder, count, seconds):
    """Pieces of music in stereo at 44.1 kHz, each from another track or another place in it. `seconds` gives the length of a
    number."""
    for number in range(count if tracks() else 0):
        turn, index = divmod(number, len(tracks()))
        source, length = tracks()[index]
        start = turn * 0.37 * length % length
        loops = math.ceil((start + seconds(number)) / length)
        ffmpeg("-stream_loop", loops, "-i", source, "-ss", start, "-t", seconds(number), "-ac", 2, "-ar", 44100, "-c:a", "pcm_s16le",
               folder / "piece.wav")
        yield f"{source.stem} at {start:.0f} s", folder / "piece.wav", 44100, 2
