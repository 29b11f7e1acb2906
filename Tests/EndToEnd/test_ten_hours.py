"""Recordings of ten hours: the minute at their end costs little more than the minute at their start, and little memory.

With the marker `soak` each cut is also held against ffmpeg's decode of the whole recording, which takes minutes, and whole recordings
are converted by four encoders.
"""

import os
import pathlib
import wave

import pytest
from processes import check, equal, run
from sound import ffmpeg, melody, write
from service import RESPOOL

MEASURED = pathlib.Path(__file__).parent / "harness/measured.py"
# The first name is the container's; packets of a minute are repeated, but for FLAC, whose frames are numbered.
SOURCES = {
    "cbr.mp3": ("-c:a", "libmp3lame", "-b:a", "64k"),
    "bare.mp3": ("-c:a", "libmp3lame", "-q:a", "6", "-write_xing", "0"),
    "aac.m4a": ("-c:a", "aac", "-b:a", "48k"),
    "opus.opus": ("-c:a", "libopus", "-b:a", "32k", "-ar", "48000"),
    "aac.mka": ("-c:a", "aac", "-b:a", "48k"),
    "aac.ts": ("-c:a", "aac", "-b:a", "48k"),
    "aac.flv": ("-c:a", "aac", "-b:a", "48k"),
    "mp3.avi": ("-c:a", "libmp3lame", "-b:a", "64k"),
    "flac.flac": ("-c:a", "flac", "-compression_level", "0", "-ar", "8000"),
}


def measured(service, source, output, *words, limit=120):
    """Converts by hand: seconds of CPU time, and MB of the largest of its processes."""
    told = run("/usr/bin/python3", "-S", MEASURED, RESPOOL, "convert", source, output, *words, environment=service.environment, seconds=limit)
    return tuple(map(float, told.split()))


def convert(service, source, output, span):
    return measured(service, source, output, "--start", span[0], "--end", span[1])


def make(service, name, arguments, minutes):
    minute, path = f"{service.folder}/minute-{name}", f"{service.sources}/{name}"
    if name.startswith("flac"):
        ffmpeg("-i", f"{service.folder}/minute.wav", "-ar", "8000", f"{service.folder}/minute-8.wav")
        ffmpeg("-stream_loop", minutes - 1, "-i", f"{service.folder}/minute-8.wav", *arguments, path)
        return path
    ffmpeg("-i", f"{service.folder}/minute.wav", *arguments, minute)
    again = arguments[-2:] if "-write_xing" in arguments else ()
    ffmpeg("-stream_loop", minutes - 1, "-i", minute, "-c", "copy", *again, path)
    return path


@pytest.mark.parametrize(("hours", "is_compared"), [
    pytest.param(1, False, marks=pytest.mark.long), pytest.param(10, True, marks=pytest.mark.soak)])
def test_the_last_minute_of_hours_costs_little_more_than_the_first(service, figures, hours, is_compared):
    spans = (0, 60), (hours * 3600 - 120, hours * 3600 - 60)
    write(f"{service.folder}/minute.wav", melody(60))
    lines = []
    for name, arguments in SOURCES.items():
        source = make(service, name, arguments, hours * 60)
        cuts = [f"{service.folder}/{place}.wav" for place in ("start", "end")]
        # CPU time, since the machine does other things as well.
        (first, _), (last, memory) = [convert(service, source, cut, span) for cut, span in zip(cuts, spans)]
        # Decoding what is before it would cost hundreds of minutes.
        check(last <= (3 + 0.7 * hours) * first, f"{name}: {last:.2f} s for the last minute, {first:.2f} s for the first")
        most = 60 + (12 * hours if name.endswith((".m4a", ".avi")) else 0)
        check(memory <= most, f"{name}: {memory:.0f} MB of memory for the last minute")
        with wave.open(cuts[1]) as cut:
            rate = cut.getframerate()
            equal(cut.getnframes(), 60 * rate, f"samples of the last minute of {name}")
            samples = cut.readframes(60 * rate)
        if is_compared:
            decoder = ("-c:a", "libopus") if name.endswith(".opus") else ()
            whole = ffmpeg(*decoder, "-i", source, "-af", f"atrim=start_sample={spans[1][0] * rate}:end_sample={spans[1][1] * rate}",
                           "-f", "s16le", "-c:a", "pcm_s16le", "-")
            far = max(abs(a - b) for a, b in zip(memoryview(whole).cast("h"), memoryview(samples).cast("h")))
            # Dither is new each time, and so is the noise that AAC's decoder makes up.
            check(len(whole) == len(samples) and far <= (2000 if "aac" in name else 3), f"{name}: off by {far}")
        os.remove(source)
        lines.append(f"{name} {first:.2f} and {last:.2f} s, {memory:.0f} MB")
    figures("; ".join(lines))


@pytest.mark.soak
@pytest.mark.parametrize("format", ["mp3", "opus", "flac", "m4a", "ogg"])
def test_ten_hours_on_four_threads_take_little_memory(service, figures, format):
    write(f"{service.folder}/minute.wav", melody(60, channels=2), 2)
    memories = []
    for minutes in (10, 600):
        source = f"{service.sources}/{minutes}.flac"
        ffmpeg("-stream_loop", minutes - 1, "-i", f"{service.folder}/minute.wav", "-compression_level", "0", source)
        seconds, memory = measured(service, source, f"{service.folder}/r.{format}", "--threads", "4", "--passthrough", "never", "--overwrite", "replace",
                                   limit=3600)
        memories.append(memory)
    check(memories[1] <= 60 + 4 * 15, f"{format}: {memories[1]:.0f} MB with four threads")
    figures(f"{format}: {memories[0]:.0f} MB for ten minutes, {memories[1]:.0f} MB for ten hours in {seconds:.0f} s")


@pytest.mark.long
def test_a_lossy_source_on_four_threads_takes_little_memory(service, figures):
    """Its samples are kept as floating point, for segments of a minute."""
    write(f"{service.folder}/minute.wav", melody(60, channels=2), 2)
    source = f"{service.sources}/six.mp3"
    ffmpeg("-stream_loop", 5, "-i", f"{service.folder}/minute.wav", "-b:a", "128k", source)
    _, memory = measured(service, source, f"{service.folder}/r.m4a", "--threads", 4, limit=600)
    check(memory <= 60 + 4 * 15, f"{memory:.0f} MB with four threads")
    figures(f"{memory:.0f} MB with four threads")
