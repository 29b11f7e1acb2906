"""The samples of many files at once, from decoders that are not respool's."""

import os
import pathlib
import re
import tempfile

import numpy
from processes import Failed, run
from sound import ffmpeg

# The own decoder of ffmpeg 7 returns wideband frames of Speex twice, so there the reference decodes, whose samples differ a little.
SPEEX = ["-c:a", "libspeex"] if int(re.search(rb"libavcodec +(\d+)", run("ffmpeg", "-version"))[1]) > 60 else []


def decode(files):
    """All samples of each file in floating point, or the error; files are (path, channels, Hz, preceding arguments)."""
    with tempfile.TemporaryDirectory(prefix="respool-decoding.") as folder:
        return read(files, folder)


def read(files, folder):
    words = [word for path, _, _, before in files for word in ("-threads", 1, *before, "-i", path)]
    raw = [f"{folder}/{number}.raw" for number in range(len(files))]
    for number, (_, _, rate, _) in enumerate(files):
        words += ["-map", f"{number}:a:0", "-ar", rate, "-f", "f32le", raw[number]]
    try:
        ffmpeg(*words)
    except Failed as fault:
        # One invalid file makes the whole command fail, so each file is then decoded separately.
        return [fault] if len(files) == 1 else [read([file], folder)[0] for file in files]
    found = []
    for path, (_, channels, _, _) in zip(raw, files):
        samples = numpy.fromfile(path, "<f4")
        os.unlink(path)
        found.append(samples[:len(samples) // channels * channels].reshape(-1, channels).astype(float))
    return found


def vorbis(paths):
    """Paths of WAV files that libvorbis decodes from Ogg files, in order: libav miscounts files of a single page."""
    if paths:
        run("oggdec", "-Q", *paths)
    return [str(pathlib.Path(path).with_suffix(".wav")) for path in paths]
