"""Each output format and codec, and each kind of source, with children that the sandbox fully confines.

A system call that the filter does not allow kills the transcoder, so a library that uses a new one fails here.
"""

import json

import pytest
from service import equal
from sound import SOURCES, encode, melody, write


@pytest.mark.quick
def test_each_format_and_source_is_converted_inside_the_sandbox(service, start_worker, figures):
    short, long = f"{service.sources}/short.wav", f"{service.sources}/long.wav"
    write(short, melody(2, channels=2), channels=2)
    # Long enough for several segments of any codec.
    write(long, melody(65))
    for name, options in SOURCES.items():
        encode(short, f"{service.sources}/{name}", *options)
    start_worker(slots=2, sandbox="require", max_crashes=1)

    entries = [json.loads(line) for line in service.respool("formats", "--json").decode().splitlines()]
    pairs = [(entry["format"], codec["codec"]) for entry in entries for codec in entry["codecs"]]
    one_of_each = {codec: format for format, codec in reversed(pairs) if format != "hls"}
    jobs = [{"source": service.source("short.wav"), "format": format, "codec": codec, "threads": "1"} for format, codec in pairs]
    jobs += [{"source": service.source("long.wav"), "format": format, "codec": codec, "threads": "4"}
             for codec, format in one_of_each.items()]
    jobs += [{"source": service.source(name), "format": "wav"} for name in SOURCES]
    names = service.push(*jobs)
    records = service.wait(names, 300)
    failed = [(job, records[name]["error"]) for name, job in zip(names, jobs) if records[name]["state"] != "completed"]
    equal(failed, [], "jobs that are not completed")
    figures(f"{len(pairs)} outputs with one thread, {len(one_of_each)} codecs with four, {len(SOURCES)} sources")
