"""Bad jobs, all for one worker: each fails with its own code and one clear sentence, and the worker goes on."""

import os
import pathlib
import re

import pytest
from sound import decode, same
from service import check, equal


@pytest.mark.quick
def test_bad_jobs_fail_with_their_codes_and_the_worker_goes_on(service, start_worker, audio, web, figures):
    folder = pathlib.Path(service.sources)
    audio("good.wav", 20)
    sound = audio("good.flac", 20)
    whole = (folder / "good.flac").read_bytes()
    (folder / "text.mp3").write_text("This is no music, but a letter that somebody gave the wrong name.\n" * 200)
    (folder / "empty.flac").write_bytes(b"")
    (folder / "cut.flac").write_bytes(whole[:len(whole) * 6 // 10])
    (folder / "video.mp4").mkdir()
    os.mkfifo(folder / "fifo.wav")
    (folder / "link.wav").symlink_to("/etc/passwd")
    (folder / "noaudio.png").write_bytes(bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360000000000500010d0a2db40000000049454e44ae426082"))
    web.rules["/denied.wav"] = {"status": 403}
    web.rules["/away.wav"] = {"location": "http://169.254.169.254/latest/meta-data/"}
    port = web.url.rsplit(":", 1)[1]

    good = {"source": service.source("good.flac"), "format": "flac"}
    cases = [
        ("a text file named .mp3", {"source": service.source("text.mp3")}, "unsupported_format"),
        ("an empty file", {"source": service.source("empty.flac")}, "corrupt_media"),
        ("a FLAC cut at 60 %", {"source": service.source("cut.flac")}, "source_truncated"),
        ("a FLAC cut at 60 %, over HTTP", {"source": f"{web.url}/cut.flac"}, "source_truncated"),
        ("a picture", {"source": service.source("noaudio.png")}, ("no_audio", "unsupported_format")),
        ("no such file", {"source": service.source("nowhere.wav")}, "source_not_found"),
        ("404", {"source": f"{web.url}/nowhere.wav"}, "source_not_found"),
        ("403", {"source": f"{web.url}/denied.wav"}, "source_denied"),
        ("a host without an address", {"source": "http://nonexistent.invalid/a.wav", "attempts": "1"}, "source_unreachable"),
        ("a port where nobody listens", {"source": "http://127.0.0.1:1/a.wav", "attempts": "1"}, "source_unreachable"),
        ("format xyz", {"format": "xyz"}, "invalid_request"),
        ("no format", {"format": None}, "invalid_request"),
        ("an unknown field", {"colour": "blue"}, "invalid_request"),
        ("a mode that there is not", {"overwrite": "append"}, "invalid_request"),
        ("a callback that cannot be called", {"callback": "ftp://example.org/"}, "invalid_request"),
        ("start after end", {"start": "10", "end": "5"}, "invalid_time_range"),
        ("start after the source's end", {"start": "1:00"}, "invalid_time_range"),
        ("source file:///etc/passwd", {"source": "file:///etc/passwd"}, "policy_denied"),
        ("a link out of the root", {"source": service.source("link.wav")}, "policy_denied"),
        ("dots out of the root", {"source": service.source("../../../../../etc/passwd")}, "policy_denied"),
        ("a FIFO", {"source": service.source("fifo.wav")}, "policy_denied"),
        ("a directory", {"source": service.source("video.mp4")}, "policy_denied"),
        ("a loopback address not allowed", {"source": f"http://127.0.0.2:{port}/good.wav"}, "policy_denied"),
        ("the metadata address", {"source": "http://169.254.169.254/"}, "policy_denied"),
        ("a redirect to the metadata address", {"source": f"{web.url}/away.wav"}, "policy_denied"),
        ("a scheme unknown", {"source": "gopher://x/a.wav"}, "invalid_request"),
        ("output ../../x", {"output": "../../x"}, "output_denied"),
    ]
    worker = start_worker(slots=1, allow_hosts="127.0.0.1")
    jobs = [{name: value for name, value in (good | fields).items() if value is not None} for _, fields, _ in cases]
    ids = service.push(*jobs)
    after = service.push({"source": f"{web.url}/good.flac", "format": "wav"})
    records = service.wait(ids, 120)
    service.completed(after, 30)
    same(decode(f"{service.outputs}/{after[0]}.wav"), sound, "the good job's result")
    check(worker.is_running, "the worker ended")

    wrong, codes = [], set()
    for id, (what, _, code) in zip(ids, cases):
        error = records[id]["error"] or {"code": records[id]["state"], "message": "", "retryable": None}
        print(f"  {what:36} {error['code']:20} {error['message']}")
        codes.add(error["code"])
        if records[id]["state"] != "failed" or error["code"] not in (code if isinstance(code, tuple) else (code,)):
            wrong.append(f"{what} ended {records[id]['state']} with {error['code']} instead of {code}")
        elif not re.fullmatch(r"\S[^\n]{15,400}", error["message"]):
            wrong.append(f"{what}: the message is no sentence: {error['message']!r}")
        elif records[id]["attempt"] > 1:
            wrong.append(f"{what} was tried {records[id]['attempt']} times")
    check(not wrong, "; ".join(wrong))
    results = {f"{after[0]}.wav"} | {f"{id}.flac" for id in ids if records[id]["state"] == "completed"}
    equal(set(os.listdir(service.outputs)), results, "files in the output root")
    equal(service.staged(), [], "staged files")
    service.check_keys()
    figures(f"{len(cases)} jobs, {len(codes)} codes, each its own; the job after them completed in the same worker")
