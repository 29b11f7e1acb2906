"""Previews of sources and outputs, as `respool up` makes them for clients that are told apart by tokens."""

import hashlib
import json
import os
import pathlib
import subprocess

import pytest
from processes import check, equal, until
from service import Process, RESPOOL
from test_serve import Client, exchange, free_port


@pytest.mark.long
def test_a_tenant_of_respool_up_gets_previews_of_its_own_jobs_and_reads_no_other_file(service, audio, figures):
    folder, port = pathlib.Path(service.folder) / "up", free_port()
    tokens = pathlib.Path(service.folder) / "tokens"
    tokens.write_text("".join(
        f"{name} operate {hashlib.sha256(f'{name}-secret'.encode()).hexdigest()} group={name}-\n" for name in ("one", "two")))
    settings = {"RESPOOL_SLOTS": "1", "RESPOOL_OUTPUT_ROOT": "", "RESPOOL_SOURCE_ROOTS": ""}
    log = pathlib.Path(service.folder) / "up.log"
    up = Process(
        [RESPOOL, "up", "--data", str(folder), "--listen", f"127.0.0.1:{port}", "--tokens", str(tokens)], log,
        service.environment | settings)
    until("it is ready", 60, lambda: "respool is ready" in log.read_text())
    one, two = Client(port, "one-secret"), Client(port, "two-secret")
    check(one("GET", "/v1/access")[1]["previews"], "it makes no previews")
    audio("a.flac", 20)
    data = pathlib.Path(f"{service.sources}/a.flac").read_bytes()
    upload = json.loads(exchange(port, "POST", "/v1/uploads", data, Authorization="Bearer one-secret")[2])["source"]

    def ended(client, id):
        until("the job ends", 60, lambda: client("GET", f"/v1/jobs/{id}")[1]["state"] in ("completed", "failed"))
        return client("GET", f"/v1/jobs/{id}")[1]

    def preview(**body):
        status, pushed = one("POST", "/v1/previews", body)
        equal(status, 201, f"a preview: {pushed}")
        job = ended(one, pushed["id"])
        equal(job["state"], "completed", f"the preview: {job['error']}")
        equal((job["group"], job["priority"]), ("one-previews", "high"), "the job of the preview")
        equal(one("POST", "/v1/previews", body), (200, {"id": pushed["id"], "duplicate": True}), "the same preview")
        equal(two("GET", f"/v1/jobs/{pushed['id']}")[0], 404, "the job for another tenant")
        status, headers, file = exchange(
            port, "GET", f"/v1/jobs/{pushed['id']}/outputs/0", Authorization="Bearer one-secret")
        equal(status, 200, "the download")
        return job["outputs"][0], headers["Content-Type"], file

    # Before a push: the source.
    report, kind, file = preview(kind="audio", source=upload, start="0:05", end=8)
    equal((report["duration"], report["codec"], kind), (3.0, "opus", "audio/ogg"), "the audio")
    sound = subprocess.run(["ffmpeg", "-v", "error", "-i", "-", "-f", "null", "-"], input=file, capture_output=True)
    equal((sound.returncode, sound.stderr), (0, b""), "the audio for ffmpeg")
    report, kind, file = preview(kind="peaks", source=upload, points=500)
    peaks = json.loads(file)
    equal(kind, "application/json", "the type of peaks")
    check(400 <= peaks["length"] <= 500 and max(peaks["data"]) > 1000, f"the peaks: {file[:200]}")
    report, kind, file = preview(kind="spectrogram", source=upload)
    equal((kind, file[:8], file[16:24]), ("image/png", b"\x89PNG\r\n\x1a\n", bytes([0, 0, 4, 0, 0, 0, 1, 0])), "the spectrogram")
    # After it: the job's range, and its result.
    status, pushed = one("POST", "/v1/jobs", {"source": upload, "format": "mp3", "start": 2, "end": 6, "group": "one-a"})
    equal(status, 201, "a push")
    job = ended(one, pushed["id"])
    for subject in ({"of": "source"}, {"of": "output", "output": 0}):
        report, _, _ = preview(kind="audio", job=pushed["id"], **subject)
        equal(report["duration"], 4.0, f"the preview of {subject}")
        equal(two("POST", "/v1/previews", {"kind": "audio", "job": pushed["id"], **subject})[0], 404, "another tenant")
    # The result of another tenant, and any other file, is not read by its name.
    for path in (job["outputs"][0]["url"], "/etc/passwd"):
        status, refused = two("POST", "/v1/previews", {"kind": "audio", "source": f"file://{path}"})
        equal(status, 201, "a preview of a file")
        equal(ended(two, refused["id"])["error"]["code"], "policy_denied", f"the preview of {path}")
    previews = folder / "uploads/previews"
    names = sorted(path.suffix for path in previews.iterdir())
    equal(names.count(".job"), 7, f"the records of previews: {names}")
    up.popen.terminate()
    equal(up.wait(), 0, "the exit status")
    text = "".join(path.read_text() for path in (folder / "logs").iterdir())
    check("-secret" not in text, "a token is in a log")
    figures(f"{names.count('.job')} previews, {sum(os.path.getsize(path) for path in previews.iterdir())} bytes")
