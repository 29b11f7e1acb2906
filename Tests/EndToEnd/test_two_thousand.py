"""Conversions from and into all formats in one slot leave heaps, open files and threads of its children where they were.

The first ones warm up. One in twenty makes several outputs, one in twenty fails.
"""

import json
import pathlib

import pytest
from heaps import measure, watched
from sound import SOURCES, encode, melody, write
from service import PREFIX, check, equal, until

# By how many bytes a heap may grow: what is left of the last job differs by 40,000. The soak's 1,600 jobs show a leak of 40 bytes in each job, the gate's
# 200 one of 320, or of 3,200 in one job of ten.
MOST_GROWTH = 64_000
# What one in ten asks for besides its format.
SETTINGS = (
    {"loudness": "-16"}, {"fade_in": "0.1", "fade_out": "0.1"}, {"gain": "-3"}, {"metadata": '{"title": "Zwölf 🎵"}'},
    {"trim_silence": "-60"}, {"resampler": "soxr", "mix": "FC=FL+FR"}, {"passthrough": "never", "gain": "6"},
)
# Several results of one decode, with and without a preview's picture.
LADDERS = (
    [{"format": "mp3", "bit_rate": "64k"}, {"format": "flac"}, {"format": "peaks"}],
    [{"format": "hls", "bit_rates": "48k,96k", "sample_rate": "48000"}, {"format": "opus", "loudness": "-16"}, {"format": "png"}, {"format": "m4a"}],
)
MOST_BYTES = 4_000_000
# Jobs that fail, by their codes.
REFUSED = (
    ("source_truncated", {"source": "cut.wav", "format": "flac"}), ("source_truncated", {"source": "cut.mp3", "format": "m4a"}),
    ("unsupported_format", {"source": "words.txt", "format": "mp3"}), ("source_not_found", {"source": "none.wav", "format": "mp3"}),
    ("invalid_time_range", {"source": "a.flac", "format": "ogg", "start": "10"}),
    ("too_large", {"source": "large.wav", "format": "mp3"}),
    ("too_large", {"source": "a.wav", "format": "wav", "sample_rate": "192000", "sample_format": "f64"}),
)


@pytest.mark.parametrize(("first", "everything"), [
    pytest.param(200, 400, marks=pytest.mark.long), pytest.param(400, 2000, marks=pytest.mark.soak)])
def test_heaps_files_and_threads_stay_the_same_over_conversions(service, web, figures, first, everything):
    write(f"{service.folder}/all.wav", melody(2, channels=2), 2)
    for name, words in SOURCES.items():
        encode(f"{service.folder}/all.wav", f"{service.sources}/{name}", *words)
    folder = pathlib.Path(service.sources)
    for name in ("wav", "mp3"):
        whole = (folder / f"a.{name}").read_bytes()
        (folder / f"cut.{name}").write_bytes(whole[:len(whole) * 6 // 10])
    (folder / "words.txt").write_text("no sound\n" * 100)
    write(folder / "large.wav", bytes(MOST_BYTES + 4))
    service.command = watched(service)
    worker = service.worker(slots=1, jobs_per_pair=0, allow_hosts="127.0.0.1", max_source_bytes=MOST_BYTES, max_output_bytes=MOST_BYTES)
    # The segments of a playlist are only had where it is.
    sources = [service.source(name) for name in SOURCES if name != "hls.m3u8"] + [f"{web.url}/a.flac", f"{web.url}/hls.m3u8"]
    formats = [json.loads(line)["format"] for line in service.respool("formats", "--json").splitlines()]
    codes = {}

    def job(n):
        if n % 20 == 7:
            codes[n], fields = REFUSED[n // 20 % len(REFUSED)]
            return fields | {"source": service.source(fields["source"])}
        fields = {"source": sources[n % len(sources)]} | ({"start": "0.5", "end": "1.25"} if n % 5 == 0 else {})
        if n % 20 == 17:
            ladder = [{"output": f"ladder/{n % 100}-{place}"} | one for place, one in enumerate(LADDERS[n // 20 % 2])]
            return fields | {"outputs": json.dumps(ladder), "atomic": ("false", "true")[n // 40 % 2]}
        format = formats[n % len(formats)]
        fields |= SETTINGS[n // 10 % len(SETTINGS)] if n % 10 == 3 else {}
        return fields | {"format": format, "output": f"{format}/{n % 100}"}

    jobs = [job(n) for n in range(everything)]
    ids, told = [], [0]

    def through(count):
        ids.extend(service.push(*jobs[len(ids):count]))
        until(f"{count} jobs over", 900, lambda: service.redis("ZCARD", PREFIX + "done")
              + service.redis("ZCARD", PREFIX + "failed") >= count, 0.1)
        records = service.wait(ids[told[0]:count], 10)
        for n, name in list(enumerate(ids))[told[0]:count]:
            equal((records[name]["error"] or {}).get("code"), codes.get(n), f"error of {jobs[n]} ({records[name]['error']})")
        told[0] = count
        return measure(worker)

    before = through(first)
    for count in range(1000, everything, 1000):
        found = through(count)
        print(f"  {count:,}: " + ", ".join(f"{one.program} {one.heap:,} bytes" for one in found), flush=True)
    after = through(everything)
    lines = []
    for one, end in zip(before, after):
        equal(end.pid, one.pid, f"process id of {one.program}")
        lines.append(f"{one.program} {one.heap:,} → {end.heap:,} bytes of heap, {one.kilobytes:,} → {end.kilobytes:,} kB, "
                     f"{one.descriptors} → {end.descriptors} descriptors, {one.threads} → {end.threads} threads")
        check(end.heap - one.heap <= MOST_GROWTH, f"the heap grew: {lines[-1]}")
        # What malloc keeps goes up and down by as much as that; a leak of mapped memory would not come back.
        check(end.kilobytes - one.kilobytes <= 4096, f"memory grew: {lines[-1]}")
        equal(end.descriptors, one.descriptors, f"open descriptors of {one.program}")
        equal(end.threads, one.threads, f"threads of {one.program}")
    figures(f"{everything} conversions of {len(sources)} sources into {len(formats)} formats: " + "; ".join(lines))
