"""Under AddressSanitizer: every kind of job through one pair, and the command by hand; no error and no leak in any process."""

import json
import pathlib
import signal

import pytest
from sound import decode, encode, same
from service import RESPOOL, check, children, equal, run

EFFECTS = (
    {"loudness": "-16"}, {"gain": "-3", "fade_in": "0.1", "fade_out": "0.1"}, {"trim_silence": "-60"}, {"resampler": "soxr",
    "sample_rate": "32000"}, {"metadata": '{"title": "Zwölf 🎵"}'}, {"passthrough": "never"},
)


@pytest.mark.sanitizer
def test_no_process_leaks_whatever_a_job_asks_for(service, audio, web, figures):
    reports = pathlib.Path(service.folder) / "reports"
    reports.mkdir()
    # `atexit` makes each process that ends in order write a file, so that the lack of a report means something.
    options = f"detect_leaks=1:atexit=1:log_path={reports}/report"
    service.environment |= {"ASAN_OPTIONS": options, "RESPOOL_MEMORY_LIMIT": "off", "RESPOOL_SANDBOX": "off",
                           "RESPOOL_ALLOW_HOSTS": "127.0.0.1"}

    def clean(pids):
        for path in reports.iterdir():
            text = path.read_text(errors="replace")
            check("ERROR: " not in text, f"a report of the sanitizer:\n{text[:6000]}")
        for pid in pids:
            check((reports / f"report.{pid}").exists(), f"process {pid} was killed, or built without the sanitizer")

    folder = pathlib.Path(service.sources)
    sound = audio("a.wav", 3)
    for name in ("a.flac", "a.mp3", "a.m4a", "a.ogg"):
        encode(folder / "a.wav", folder / name)
    (folder / "text.mp3").write_text("no music\n" * 500)
    (folder / "empty.wav").write_bytes(b"")
    (folder / "cut.flac").write_bytes((folder / "a.flac").read_bytes()[:20_000])
    web.rules["/a.m4a"] = {"rate": 50_000, "cut": 10_000}
    formats = [json.loads(line)["format"] for line in service.respool("formats", "--json").splitlines()]
    good = [{"source": service.source("a.flac"), "format": format} for format in formats]
    good += [{"source": service.source("a.mp3"), "format": "mp3"} | effect for effect in EFFECTS]
    good += [{"source": service.source("a.wav"), "outputs": '[{"format": "mp3"}, {"format": "opus"}, {"format": "flac"}]'}]
    good += [{"source": service.source(name), "format": "flac", "start": "0.5", "end": "2"}
             for name in ("a.wav", "a.mp3", "a.m4a", "a.ogg")]
    good += [{"source": f"{web.url}/{name}", "format": "wav"} for name in ("a.flac", "a.m4a", "a.mp3")]
    bad = [{"source": service.source(name), "format": "flac"} for name in ("text.mp3", "empty.wav", "cut.flac", "none.wav")]
    bad += [{"source": f"{web.url}/none.wav", "format": "flac"}, {"source": service.source("a.wav"), "format": "xyz"},
            {"source": service.source("a.wav"), "format": "flac", "start": "2", "end": "1"}]

    worker = service.worker(slots=1)
    ids = service.push(*good, *bad)
    service.completed(ids[:len(good)], 180)
    records = service.wait(ids, 60)
    equal({records[id]["state"] for id in ids[len(good):]}, {"failed"}, "states of the bad jobs")
    pair = list(children(worker.pid))
    check(len(pair) in (2, 4), f"the slot has {len(pair)} children")
    worker.send(signal.SIGTERM)
    equal(worker.wait(), 0, f"exit status of the worker ({worker.tail(5)})")
    clean([worker.pid, *pair])

    before = len(list(reports.iterdir()))
    for format in ("mp3", "flac"):
        run(RESPOOL, "convert", folder / "a.wav", f"{service.folder}/by-hand.{format}", environment=service.environment)
    same(decode(f"{service.folder}/by-hand.flac"), sound, "the converted file")
    run(RESPOOL, "probe", folder / "a.flac", environment=service.environment)
    run(RESPOOL, "convert", folder / "text.mp3", f"{service.folder}/x.flac", environment=service.environment, statuses=(1,))
    clean([])
    ended = len(list(reports.iterdir())) - before
    check(ended >= 4 * 3, f"only {ended} processes of 4 commands with 2 children each ended in order")
    figures(f"{len(good)} conversions and {len(bad)} bad jobs through one pair, 4 commands by hand: "
            f"{len(list(reports.iterdir()))} processes ended in order, no error, no leak")
