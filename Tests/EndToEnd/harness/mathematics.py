"""A test signal defined by a formula for any sample rate, a WAV file of it, and measures of similarity to it."""

import functools
import subprocess

import numpy

SECONDS = 1
LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1"}
RATES = (8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000, 192000)


@functools.lru_cache(maxsize=24)
def signal(channels, rate, start, count):
    """Samples from a time in seconds on: a rising tone per channel, below the Nyquist frequency of every rate."""
    time = (start * rate + numpy.arange(count)) / rate
    made = []
    for channel in range(channels):
        low = 500 + 70 * channel
        phase = 2 * numpy.pi * (low * time + (600 + 30 * channel) * time**2 / 2)
        made.append(0.35 * numpy.sin(phase) * (1 + 0.5 * numpy.sin(2 * numpy.pi * 3 * time + channel)))
    return numpy.stack(made, axis=1)


def wave(path, channels, rate):
    """Writes the signal as 16-bit WAV."""
    samples = signal(channels, rate, 0, SECONDS * rate)
    raw = numpy.round(samples * 32767).astype("<i2").tobytes()
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "s16le", "-ar", str(rate), "-ac", str(channels), "-i", "-",
         path], input=raw, check=True)


def lag(found, wanted, rate):
    """The delay of the first signal in samples, from the cross-correlation within a fifth of a second."""
    reach = rate // 5
    size = 1 << (len(wanted) + 2 * reach).bit_length()
    total = numpy.zeros(2 * reach + 1)
    for channel in range(wanted.shape[1]):
        product = numpy.fft.irfft(
            numpy.fft.rfft(found[:, channel], size) * numpy.conj(numpy.fft.rfft(wanted[:, channel], size)), size)
        total += numpy.concatenate([product[-reach:], product[:reach + 1]])
    return int(total.argmax()) - reach


def is_aligned(found, wanted):
    """Whether no shift by a few samples makes the signals more similar. They must already be similar."""
    def likeness(shift):
        size = len(found) - 128
        return float((found[64 + shift:64 + shift + size] * wanted[64:64 + size]).sum())

    here = likeness(0)
    return all(likeness(side * step) < here for step in (1, 2, 4, 8, 16, 32, 64) for side in (-1, 1))


def ratio(wanted, found):
    """Decibels of the signal over the difference."""
    noise = ((wanted - found) ** 2).sum()
    return float(10 * numpy.log10((wanted**2).sum() / noise)) if noise else 999.0
