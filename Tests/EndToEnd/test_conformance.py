"""Every source variant to every output, at every layout and rate, in three cuts, as a table; about an hour for all.

The sample, which is `long`, cuts each source in three places, to floating point and to its own codec, and takes one source to every
output, whole and cut; each source goes to one more output with its tags. The subset takes each source to each output once, with
tags, to its codec's own outputs and to floating point in three cuts, and one source to every output at each rate and layout; two
minutes. `--part` chooses a part of any:
`--part "source=flac format=mp3,caf/alac rate=44100 layout=stereo"`; its word `slots=N` says how many conversions run side by side.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import threading
import time
import typing

import pytest
from decoding import SPEEX, decode, vorbis
from judging import judge
from mathematics import LAYOUTS, RATES, SECONDS, wave
from readback import ASPECTS, kept, listed, told
from sound import ffmpeg
from service import PREFIX, RESPOOL, TERMINAL, check, run, until
from tagging import covers
from variants import Source, Truth, sources

# Microseconds.
CUTS = {"whole": (0, None), "middle": (216_100, 678_950), "end": (625_000, None)}
# What ffmpeg cannot read as it was meant, since it leaves padding at the end; respool reads it back.
RESPOOL_READS = {"m4a/aac", "m4b/aac", "mp4/aac", "mp4/mp3", "mp4/opus", "mp4/ac3", "mp4/eac3", "mov/aac", "mov/mp3", "mov/ac3",
                 "mov/eac3"}
OTHERS = ("raw", "hls", "peaks", "png", "spectrogram")
# Samples that are held in memory at once.
LOAD = 24_000_000


class Output(typing.NamedTuple):
    """A format with a codec, or with floating-point samples."""

    format: str
    codec: str
    extension: str

    def __str__(self):
        return f"{self.format}/{self.codec}"


class Case(typing.NamedTuple):
    """One conversion."""

    source: Source
    output: Output
    layout: int
    rate: int
    span: str

    @property
    def codec(self):
        return self.output.codec

    @property
    def cut(self):
        return CUTS[self.span]

    @property
    def has_tags(self):
        return self.span == "whole" and (self.layout, self.rate) == self.source.shape

    def job(self, path, result):
        start, end = self.cut
        samples = {"codec": "pcm", "sample_format": "f32"} if self.codec == "f32" else {"codec": self.codec}
        return ({"source": f"file://{path}", "format": self.output.format, "output": result, "passthrough": "auto"} | samples
                | ({"start": f"{start}/1000000"} if start else {}) | ({"end": f"{end}/1000000"} if end else {}))


class Row:
    """What came of all conversions of one source variant to one output."""

    def __init__(self):
        self.done = self.failed = self.copied = self.samples = 0
        self.worst = float("inf")
        self.kept = {}
        self.faults = []


def outputs():
    """All that respool writes as files of sound."""
    rows = [Output("wav", "f32", "wav")]
    for line in run(RESPOOL, "formats", "--json").decode().splitlines():
        entry = json.loads(line)
        if entry["format"] not in OTHERS:
            rows += [Output(entry["format"], codec["codec"], entry["extension"]) for codec in entry.get("codecs") or []]
    return rows


def chosen(part):
    """The wanted values of each name."""
    choice = collections.defaultdict(list)
    for word in part.split():
        name, mark, values = word.partition("=")
        check(mark and name in ("source", "format", "rate", "layout", "slots"),
              f"what is {word!r}? Give name=value,value")
        choice[name] += values.split(",")
    return choice


def groups(size, choice):
    """[[Case]], each of one source at one layout and rate."""
    def wants(name, *values):
        return not choice[name] or any(str(value) in choice[name] for value in values)

    every = [output for output in outputs() if wants("format", output.format, output)]
    found = []
    for layout, name in LAYOUTS.items():
        for rate in RATES:
            for source in sources():
                if not (source.takes(layout, rate) and wants("layout", name) and wants("rate", rate)
                        and wants("source", source.name)):
                    continue
                if size == "whole":
                    spans = {output: CUTS for output in every}
                elif size == "sample":
                    if (layout, rate) != source.shape:
                        continue
                    same = next((output for output in every if output.codec == source.codec), None)
                    spans = ({every[len(found) % len(every)]: ["whole"]} | ({output: ["whole", "middle"] for output in every} if source.name == "wav" else {})
                             | {output: CUTS for output in every if output == same or output.codec == "f32"})
                elif (layout, rate) == source.shape:
                    spans = {output: CUTS if output.codec in ("f32", source.codec) else ["whole"] for output in every}
                elif source.name == "wav":
                    spans = {output: ["middle"] for output in every}
                else:
                    continue
                found.append([Case(source, output, layout, rate, span) for output, cuts in spans.items() for span in cuts])
    return found


class Conformance:
    """Converts and judges groups of cases, several groups at a time: while one is converted, another is judged."""

    def __init__(self, service, size, choice):
        self.service = service
        self.is_part = size != "whole"
        self.groups = groups(size, choice)
        self.rows = collections.defaultdict(Row)
        self.lock = threading.Lock()
        self.names = iter(range(10**9))
        self.plain = {}
        ffmpeg("-f", "lavfi", "-i", "color=red:s=48x48", "-frames:v", "1", f"{service.sources}/cover.jpg")
        ffmpeg("-f", "lavfi", "-i", "color=blue:s=32x32", "-frames:v", "1", f"{service.sources}/cover.png")
        self.covers = covers(f"{service.sources}/cover.jpg", f"{service.sources}/cover.png")
        for layout, rate in sorted({(cases[0].layout, cases[0].rate) for cases in self.groups}):
            self.plain[layout, rate] = f"{service.folder}/plain-{layout}-{rate}.wav"
            wave(self.plain[layout, rate], layout, rate)

    def run(self):
        total = sum(map(len, self.groups))
        check(total > 0, "the arguments choose nothing")
        begin = time.monotonic()
        done = 0
        pool = concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 1)
        try:
            for group in concurrent.futures.as_completed([pool.submit(self.group, cases) for cases in self.groups]):
                line, count = group.result()
                done += count
                spent = time.monotonic() - begin
                print(f"{done / total:4.0%} {spent:5.0f} s  {line}", flush=True)
        finally:
            # After a failure or a signal the others end as soon as the service under them is gone.
            pool.shutdown(wait=False, cancel_futures=True)
        return total

    def jobs(self, jobs):
        """Pushes jobs and returns their records."""
        with self.lock:
            ids = self.service.push(*jobs)
        until("jobs are over", 1200, lambda: self.are_over(ids), pause=0.2)
        records = self.service.wait(ids, 60)
        return [records[name] for name in ids]

    def are_over(self, ids):
        # Their states alone: what the command prints of hundreds of jobs is much to ask for again and again.
        with self.lock:
            states = self.service.redis.many([["HGET", f"{PREFIX}job:{name}", "state"] for name in ids])
        return all(state in TERMINAL for state in states)

    def group(self, cases):
        """Makes a source, converts it and judges what comes out; returns a line on it."""
        source, _, layout, rate, _ = cases[0]
        path = source.make(self.plain[layout, rate], self.service.sources, layout, rate, self.covers)
        truth = Truth(source, path, layout, rate, self.plain[layout, rate])
        with self.lock:
            names = [f"{next(self.names)}.{case.output.extension}" for case in cases]
        records = self.jobs([case.job(path, name) for case, name in zip(cases, names)])
        results = []
        failed, first = 0, None
        for case, record in zip(cases, records):
            if record["state"] == "completed":
                results.append((case, record["outputs"][0] | {"path": record["outputs"][0]["url"].removeprefix("file://")}))
            else:
                fault = f"{record['error']['code']}: {record['error']['message']}"
                failed, first = failed + 1, first or f"{case.output}: {fault}"
                self.note(case, {}, fault)
        if source.trimmed:
            self.trim(truth, results)
        origin = told(path) if any(case.has_tags for case in cases) else None
        size = max(1, LOAD // (SECONDS * rate * layout))
        for at in range(0, len(results), size):
            chunk = results[at:at + size]
            paths = [output["path"] for case, output in chunk if case.has_tags]
            # ffprobe takes a process for each file.
            listings = dict(zip(paths, listed(paths))) if self.is_part and paths else {}
            for (case, output), found in zip(chunk, self.decoded(chunk)):
                fault, decibels = (str(found), None) if isinstance(found, Exception) else judge(case, output, found, truth)
                if case.has_tags:
                    told_by, missing = kept(case.output.format, origin, output, listings.get(output["path"]))
                    self.rows[source.name, str(case.output)].kept = told_by
                    fault = fault or missing
                if fault:
                    failed, first = failed + 1, first or f"{case.output}: {fault}"
                self.note(case, output, fault, decibels)
        for _, output in results:
            os.unlink(output["path"])
        os.unlink(path)
        line = f"{LAYOUTS[layout]:6} {rate:6} Hz {source.name:14} {len(cases):4} conversions"
        return line + (f", {failed} wrong: {first}" if failed else ""), len(cases)

    @staticmethod
    def trim(truth, results):
        """Takes the length of the source from a whole result, where the container declares one that ffmpeg does not heed."""
        for case, output in results:
            if case.span == "whole" and output["sample_rate"] == truth.rate:
                length = round(output["duration"] * truth.rate)
                truth.trim(length)
                return

    def decoded(self, results):
        """The samples of results, those that ffmpeg does not read as they were meant by way of another decoder."""
        paths = [output["path"] for _, output in results]
        unread = [n for n, (case, _) in enumerate(results) if str(case.output) in RESPOOL_READS]
        if unread:
            # A name of its own, beside the result's.
            read = [f"{pathlib.Path(paths[n]).name}.read.wav" for n in unread]
            records = self.jobs([{"source": f"file://{paths[n]}", "format": "wav", "sample_format": "f32", "output": name}
                                 for n, name in zip(unread, read)])
            for n, name, record in zip(unread, read, records):
                if record["state"] == "completed":
                    paths[n] = f"{self.service.outputs}/{name}"
        pages = [n for n, (case, output) in enumerate(results)
                 if case.codec == "vorbis" and output["path"].endswith((".ogg", ".oga"))]
        for n, path in zip(pages, vorbis([paths[n] for n in pages])):
            paths[n] = path
        found = decode([(path, output["channels"], output["sample_rate"], SPEEX if case.codec == "speex" and not path.endswith(".wav") else [])
                        for path, (case, output) in zip(paths, results)])
        for n in pages:
            if results[n][1]["channels"] == 6 and not isinstance(found[n], Exception):
                # oggdec writes the channels of 5.1 in an order that is neither Vorbis' nor WAV's.
                found[n] = found[n][:, [0, 1, 2, 4, 5, 3]]
        for path, (_, output) in zip(paths, results):
            if path != output["path"]:
                os.unlink(path)
        return found

    def note(self, case, output, fault, decibels=None):
        with self.lock:
            row = self.rows[case.source.name, str(case.output)]
            row.done += 1
            row.copied += bool(output.get("copied"))
            row.samples += round(output.get("duration", 0) * output.get("sample_rate", 0))
            row.worst = min(row.worst, float("inf") if decibels is None else decibels)
            if fault:
                row.failed += 1
                row.faults.append(f"{fault} ({LAYOUTS[case.layout]}, {case.rate} Hz, {case.span})")


def report(rows, is_part):
    """Prints the table; of a part's only what is wrong, which would be thousands of lines."""
    if is_part and not any(row.failed for row in rows.values()):
        return
    print(f"{'source':14} {'output':12} {'done':>5} {'wrong':>5} {'copied':>6} {'samples':>10} {'dB':>4} "
          + " ".join(f"{aspect:8}" for aspect in ASPECTS))
    for (source, output), row in sorted(rows.items()):
        if is_part and not row.failed:
            continue
        worst = "-" if row.worst == float("inf") else f"{row.worst:.0f}"
        aspects = " ".join(f"{row.kept.get(aspect, '-'):8}" for aspect in ASPECTS)
        first = f"  {row.faults[0]}" if row.faults else ""
        print(f"{source:14} {output:12} {row.done:5} {row.failed:5} {row.copied:6} {row.samples:10} {worst:>4} {aspects}{first}")


@pytest.mark.parametrize("size", [
    pytest.param("sample", marks=pytest.mark.long), pytest.param("subset", marks=pytest.mark.soak), pytest.param("whole", marks=pytest.mark.soak)])
def test_every_source_becomes_every_output(service, option, figures, size):
    choice = chosen(option("part", ""))
    service.worker(slots=int((choice["slots"] or [os.cpu_count()])[0]), source_roots=f"{service.sources}:{service.outputs}")
    conformance = Conformance(service, size, choice)
    total = conformance.run()
    rows = conformance.rows
    report(rows, conformance.is_part)
    failed = sum(row.failed for row in rows.values())
    check(failed == 0, f"{failed} of {total:,} conversions are not what they should be")
    kinds, results = (len({pair[n] for pair in rows}) for n in (0, 1))
    figures(f"{total:,} conversions of {kinds} sources into {results} outputs, {SECONDS} s each")
