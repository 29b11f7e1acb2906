"""A job from redis-cli: half a minute of a recording as MP3, to the sample."""

import json
import pathlib

import pytest
from sound import RATE, decibels, decode, samples
from service import PREFIX, check, equal, run

FIRST, LAST = 60 * RATE, 90 * RATE
WINDOW = 4096


def lame_tag(path):
    """The encoder's name, delay and padding from the first frame."""
    head = path.read_bytes()[:4096]
    at = next((head.find(mark) for mark in (b"Xing", b"Info") if mark in head), -1)
    check(at >= 0, "the MP3 has no Xing frame")
    flags = int.from_bytes(head[at + 4:at + 8], "big")
    tag = head[at + 8 + 4 * (flags & 1) + 4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1):]
    delays = int.from_bytes(tag[21:24], "big")
    return tag[:9].decode("ascii", "replace").strip(" \0"), delays >> 12, delays & 0xfff


@pytest.mark.quick
def test_a_job_from_redis_cli_becomes_an_mp3_to_the_sample(service, start_worker, audio, figures):
    source = audio("a.flac", 120, "-compression_level", "0", channels=2)
    start_worker(slots=1)
    job = run("redis-cli", "-s", service.redis.path, "XADD", PREFIX + "in", "*", "source", service.source("a.flac"),
              "format", "mp3", "start", "1:00", "end", "1:30").decode().strip()
    service.completed([job], 120)

    record = json.loads(service.respool("status", job, "--json"))
    equal((record["id"], record["state"]), (job, "completed"), "what status says")
    output = record["outputs"][0]
    equal((output["duration"], output["sample_rate"], output["channels"]), (30.0, RATE, 2), "the report")
    equal(output["url"], f"{service.outputs}/{job}.mp3", "where the result is")

    path = pathlib.Path(service.outputs) / f"{job}.mp3"
    raw = decode(path)
    equal(len(raw) // 4, LAST - FIRST, "decoded samples")
    expected, found = samples(source)[FIRST * 2:LAST * 2:2], samples(raw)[::2]
    ratios = []
    for begin in [0, *range(100_000, LAST - FIRST - WINDOW, 150_000), LAST - FIRST - WINDOW]:
        part = expected[begin:begin + WINDOW]
        ratios.append(decibels(part, found[begin:begin + WINDOW]))
        check(ratios[-1] >= 15, f"at sample {begin} the MP3 is not the source's part: {ratios[-1]:.1f} dB")
        for shift in (-1, 1):
            if 0 <= begin + shift and begin + shift + WINDOW <= len(found):
                shifted = decibels(part, found[begin + shift:begin + shift + WINDOW])
                check(shifted < ratios[-1] - 6, f"at sample {begin} the MP3 may be {shift} off: {shifted:.1f} dB")
    encoder, delay, padding = lame_tag(path)
    # The names by which players know that delay and padding follow.
    check(encoder.startswith(("LAME", "Lavc", "Lavf")), f"the tag names {encoder!r}")
    check(delay > 0 and (delay + padding + LAST - FIRST) % 1152 == 0, f"delay {delay} and padding {padding} do not add up")
    figures(f"{job} {record['state']}, {len(raw) // 4:,} samples, {min(ratios):.0f} to {max(ratios):.0f} dB to the source, "
            f"tag {encoder} with delay {delay} and padding {padding}")
