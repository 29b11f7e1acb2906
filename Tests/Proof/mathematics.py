"""A signal that a formula gives at any rate, files that hold it, and how near to it a file's samples are."""

import pathlib
import subprocess

import numpy
from processes import run
from sound import ffmpeg

SECONDS = 2
TITLE = "Пример, 例"
LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1"}
RATES = (8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000, 192000)


def signal(channels, rate, start, count):
    """Samples from a moment in seconds on: a rising tone for each channel, below what any rate can hold."""
    time = (start * rate + numpy.arange(count)) / rate
    made = []
    for channel in range(channels):
        low = 150 + 70 * channel
        phase = 2 * numpy.pi * (low * time + (350 + 30 * channel) * time**2 / 2)
        made.append(0.35 * numpy.sin(phase) * (1 + 0.5 * numpy.sin(2 * numpy.pi * 3 * time + channel)))
    return numpy.stack(made, axis=1)


def wave(path, channels, rate):
    """Writes the signal as 16-bit WAV."""
    samples = signal(channels, rate, 0, SECONDS * rate)
    raw = numpy.round(samples * 32767).astype("<i2").tobytes()
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "s16le", "-ar", str(rate), "-ac", str(channels), "-i", "-",
         path], input=raw, check=True)


def decoded(path, channels, rate, respool=None, codec=None):
    """All samples of a file in floating point, as ffmpeg decodes them, or respool."""
    if respool:
        run(respool, "convert", path, f"{path}.decoded.wav", "--format", "wav", "--sample-format", "f32")
        path = f"{path}.decoded.wav"
    if codec == "vorbis" and str(path).endswith((".ogg", ".oga")):
        # libav leaves the padding of files that are one page long.
        run("oggdec", "-Q", "-o", f"{path}.decoded.wav", path)
        path = f"{path}.decoded.wav"
    raw = ffmpeg("-i", path, "-f", "f32le", "-ar", str(rate), "-")
    if str(path).endswith(".decoded.wav"):
        pathlib.Path(path).unlink()
    return numpy.frombuffer(raw, "<f4").reshape(-1, channels).astype(float)


def lag(found, wanted, rate):
    """By how many samples the first comes late, from their cross-correlation over a tenth of a second."""
    reach = rate // 10
    size = 1 << (len(wanted) + 2 * reach).bit_length()
    total = numpy.zeros(2 * reach + 1)
    for channel in range(wanted.shape[1]):
        product = numpy.fft.irfft(
            numpy.fft.rfft(found[:, channel], size) * numpy.conj(numpy.fft.rfft(wanted[:, channel], size)), size)
        total += numpy.concatenate([product[-reach:], product[:reach + 1]])
    return int(total.argmax()) - reach


def ratio(wanted, found):
    """Decibels of the signal over the difference."""
    noise = ((wanted - found) ** 2).sum()
    return float(10 * numpy.log10((wanted**2).sum() / noise)) if noise else 999.0


class Source:
    """A way to store a source."""

    def __init__(self, name, *words, extension=None, rates=None, layouts=(1, 2, 6), floor=60, lossy=False, speech=False,
                 tags=True, coded_rate=None):
        self.name, self.words, self.rates, self.layouts = name, words, rates, layouts
        self.extension = extension or name
        self.floor, self.lossy, self.speech, self.tags = floor, lossy, speech, tags
        self.coded_rate = coded_rate

    def takes(self, layout, rate):
        return layout in self.layouts and (self.rates is None or rate in self.rates)

    def make(self, plain, folder, layout, rate):
        path = f"{folder}/{self.name}-{layout}-{rate}.{self.extension}"
        ffmpeg("-i", plain, "-metadata", f"title={TITLE}", *self.words, path)
        self.made = path
        return path

    def rate(self, rate):
        """Hz at which a decoder gives what was made at a rate."""
        return self.coded_rate or rate


def sources():
    """The variants: those whose decoder gives exactly what went in, priming and padding removed."""
    mpeg = (8000, 11025, 16000, 22050, 32000, 44100, 48000)
    opus = dict(rates=(8000, 16000, 48000), lossy=True, floor=10, coded_rate=48000)
    return [
        Source("wav"), Source("wav24", "-c:a", "pcm_s24le", extension="wav"),
        Source("wav32f", "-c:a", "pcm_f32le", extension="wav"), Source("w64", tags=False),
        Source("rf64", "-rf64", "always", extension="wav"), Source("aiff", "-write_id3v2", "1"), Source("au"),
        Source("caf"), Source("flac"), Source("flac-ogg", "-c:a", "flac", extension="oga"),
        Source("flac-mka", "-c:a", "flac", extension="mka"),
        Source("flac-mp4", "-c:a", "flac", "-strict", "-2", extension="mp4"),
        Source("alac", "-c:a", "alac", extension="m4a"), Source("alac-caf", "-c:a", "alac", extension="caf"),
        Source("wavpack", "-c:a", "wavpack", extension="wv"), Source("tta", layouts=(1, 2)),
        Source("mp3", "-b:a", "320k", rates=(32000, 44100, 48000), layouts=(1, 2), lossy=True, floor=15),
        Source("mp3-vbr", "-q:a", "2", extension="mp3", rates=mpeg, layouts=(1, 2), lossy=True, floor=10),
        Source("aac", "-c:a", "aac", "-b:a", "256k", extension="m4a", rates=(32000, 44100, 48000), lossy=True, floor=10),
        Source("opus", "-c:a", "libopus", "-b:a", "192k", **opus),
        Source("opus-webm", "-c:a", "libopus", "-b:a", "192k", extension="webm", **opus),
        Source("opus-mp4", "-c:a", "libopus", "-b:a", "192k", extension="mp4", **opus),
        Source("vorbis", "-c:a", "libvorbis", "-q:a", "6", extension="ogg", rates=(22050, 32000, 44100, 48000), lossy=True,
               floor=10),
        Source("vorbis-mka", "-c:a", "libvorbis", "-q:a", "6", extension="mka", rates=(44100, 48000), lossy=True, floor=10),
    ]
