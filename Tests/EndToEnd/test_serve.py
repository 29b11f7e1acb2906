"""`respool serve`: a job pushed over HTTP, followed to its end, and what is refused."""

import hashlib
import http.client
import json
import os
import pathlib
import resource
import socket

import pytest
from api import Client, start_server
from processes import HANG, free_port
from service import Process, RESPOOL, check, equal, until


def exchange(port, method, path, body=None, **headers):
    """The response to a request whose body is not JSON: status, headers, bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


@pytest.mark.quick
def test_a_file_is_uploaded_although_the_server_is_killed_and_its_result_is_downloaded(service, start_worker, audio, figures):
    uploads = pathlib.Path(service.folder) / "uploads"
    uploads.mkdir()
    port, log = free_port(), f"{service.folder}/serve.log"
    server = start_server(service, port, log, upload_dir=uploads)
    audio("a.flac", 20)
    data = pathlib.Path(f"{service.sources}/a.flac").read_bytes()
    tus, half = {"Tus_Resumable": "1.0.0"}, len(data) // 2
    status, headers, _ = exchange(port, "POST", "/v1/uploads", Upload_Length=str(len(data)), **tus)
    equal(status, 201, "a new upload")
    path = headers["Location"]

    def append(offset, part):
        return exchange(
            port, "PATCH", path, part, Upload_Offset=str(offset), Content_Type="application/offset+octet-stream", **tus)

    equal(append(0, data[:1000])[0], 204, "the first bytes")
    # A request that the end of the server breaks off.
    with socket.create_connection(("127.0.0.1", port)) as cut:
        cut.sendall(
            f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\nUpload-Offset: 1000\r\nContent-Length: {len(data) - 1000}\r\n"
            "Content-Type: application/offset+octet-stream\r\n\r\n".encode() + data[1000:half])
        file = uploads / path.rsplit("/", 1)[1]
        until("half of the file arrived", 20, lambda: file.stat().st_size == half)
        server.popen.kill()
        server.popen.wait()
    server = start_server(service, port, log, upload_dir=uploads)
    status, headers, _ = exchange(port, "HEAD", path, **tus)
    equal((status, headers["Upload-Offset"]), (200, str(half)), "the offset after the kill")
    equal(append(0, data[:1])[0], 409, "bytes that are there already")
    equal(append(half, data[half:])[0], 204, "the rest")
    source = f"upload:{path.rsplit('/', 1)[1]}"
    start_worker(slots=1, source_roots=f"{service.sources}:{uploads}")
    client = Client(port, None)
    status, pushed = client("POST", "/v1/jobs", {"source": source, "format": "wav", "end": 2})
    equal(status, 201, "a job of the upload")
    job = f"/v1/jobs/{pushed['id']}"
    until("the job ends", 120, lambda: client("GET", job)[1]["state"] in ("completed", "failed"))
    report = client("GET", job)[1]
    equal(report["state"], "completed", f"the job: {report['error']}")
    status, headers, body = exchange(port, "GET", f"{job}/outputs/0")
    equal((status, headers["Content-Type"]), (200, "audio/wav"), "the download")
    equal(hashlib.sha256(body).hexdigest(), report["outputs"][0]["sha256"], "what was downloaded")
    status, ticket = client("POST", f"{job}/outputs/0/ticket")
    status, headers, part = exchange(port, "GET", ticket["url"], Range="bytes=100-199")
    equal((status, part), (206, body[100:200]), "a range by ticket")
    os.remove(f"{service.outputs}/{pushed['id']}.wav")
    equal(exchange(port, "GET", ticket["url"])[0], 410, "an output that was removed")
    server.popen.terminate()
    equal(server.wait(), 0, "the exit status of the server")
    figures(f"{len(data)} bytes uploaded over a kill at {half}, {len(body)} bytes downloaded")


@pytest.mark.quick
def test_a_job_pushed_over_http_is_followed_to_its_end(service, start_worker, audio, figures):
    tokens = pathlib.Path(service.folder) / "tokens"
    tokens.write_text("".join(
        f"{role} {role} {hashlib.sha256(f'{role}-secret'.encode()).hexdigest()}\n" for role in ("read", "push", "operate")))
    port, log = free_port(), f"{service.folder}/serve.log"
    server = start_server(service, port, log, "--tokens", str(tokens))
    read, push, operate, nobody = (Client(port, token) for token in ("read-secret", "push-secret", "operate-secret", None))

    audio("a.flac", 20)
    fields = {"source": service.source("a.flac"), "format": "mp3", "start": 5, "end": 10}
    status, pushed = push("POST", "/v1/jobs", fields, **{"Idempotency-Key": "one"})
    equal(status, 201, "a push")
    equal(push("POST", "/v1/jobs", fields, **{"Idempotency-Key": "one"}), (201, pushed), "the same push again")
    # Refusals.
    equal(nobody("GET", "/v1/jobs")[0], 401, "a list without a token")
    equal(read("POST", "/v1/jobs", fields)[0], 403, "a push by a token that reads")
    status, problem = push("POST", "/v1/jobs", {"jobs": [fields, {**fields, "fromat": "mp3"}]})
    equal((status, problem["errors"][0]["pointer"]), (422, "/jobs/1/fromat"), "an invalid job among others")
    equal(read("GET", "/v1/jobs", Host="evil.example")[0], 403, "a foreign host")
    equal(read("GET", "/v1/queues/default")[1]["counts"]["waiting"], 1, "jobs after the refusals")
    # To its end, with a worker.
    start_worker(slots=1)
    path = f"/v1/jobs/{pushed['id']}"
    until("the job ends", 120, lambda: read("GET", path)[1]["state"] in ("completed", "failed"))
    job = read("GET", path)[1]
    equal((job["state"], job["outputs"][0]["duration"]), ("completed", 5.0), "the job")
    check(os.path.exists(f"{service.outputs}/{pushed['id']}.mp3"), "the result is missing")
    equal(read("GET", "/v1/jobs?state=completed")[1]["jobs"][0]["id"], pushed["id"], "the list of completed jobs")
    equal(operate("POST", path + "/cancel")[0], 409, "a cancel after the end")
    equal(operate("DELETE", path)[0], 200, "a deletion")
    equal(read("GET", path)[0], 404, "the job after it")
    server.popen.terminate()
    equal(server.wait(), 0, "the exit status of the server")
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    audit = [(line["action"], line["token"]) for line in lines if line["message"] == "audit"]
    equal(audit, [("pushJobs", "push"), ("deleteJob", "operate")], "the audit lines")
    check("secret" not in pathlib.Path(log).read_text(), "a token is in the log")
    figures(f"{pushed['id']} {job['state']} over HTTP, {len(audit)} audit lines")


@pytest.mark.quick
def test_a_change_that_fails_half_way_leaves_an_audit_line_of_what_was_done(service, figures):
    port, log = free_port(), pathlib.Path(service.folder) / "serve.log"
    server = start_server(service, port, log)
    client = Client(port, None)
    fields = {"source": "https://example.org/a.flac", "format": "mp3", "group": "g"}
    ids = [client("POST", "/v1/jobs", {**fields, "dedup": f"key{n}"})[1]["id"] for n in range(4)]
    # A key of a wrong type fails the deletion of its job, as if Redis were lost there.
    service.redis("DEL", "respool:{default}:dedup:key2")
    service.redis("HSET", "respool:{default}:dedup:key2", "a", "b")
    body = {"action": "delete", "filter": {"group": "g"}}
    status, dry = client("POST", "/v1/jobs/actions", {**body, "dry_run": True})
    equal((status, dry["matched"]), (200, 4), "the dry run")
    equal(client("POST", "/v1/jobs/actions", {**body, "confirm": dry["confirm"]})[0], 500, "the deletion")
    equal([client("GET", f"/v1/jobs/{id}")[0] for id in ids], [404, 404, 200, 200], "the jobs after it")
    # The same while the state of the queue is read, after it was paused.
    hour = int(service.redis("TIME")[0]) // 3600
    for shift in (0, 1):
        service.redis("SET", f"respool:{{default}}:stats:hour:{hour - 1 - shift}", "x")
    equal(client("POST", "/v1/queues/default/drain?timeout=0")[0], 500, "the drain")
    server.popen.terminate()
    server.wait()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    audit = [line for line in lines if line["message"] == "audit" and "failed" in line]
    equal(
        [(line["action"], line["subjects"], line.get("outcome")) for line in audit],
        [("changeJobs", " ".join(ids[:2]), None), ("changeJobs", ids[2], "unknown"), ("drainQueue", "default", None)],
        "the audit lines of changes that failed")
    figures(f"{len(audit)} audit lines of changes that failed half-way")


@pytest.mark.quick
def test_the_server_opens_as_many_descriptors_as_it_may_and_logs_the_ids_of_all_jobs(service):
    port, log = free_port(), pathlib.Path(service.folder) / "serve.log"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # A container may have a lower limit.
    most = 2048 if hard == resource.RLIM_INFINITY else min(2048, hard)
    words = ["/usr/bin/prlimit", f"--nofile=256:{most}", RESPOOL, "serve", "--listen", f"127.0.0.1:{port}"]
    server = Process(words, log, service.environment)
    until("it listens", 20, lambda: "serving the HTTP API" in log.read_text())
    equal(resource.prlimit(server.pid, resource.RLIMIT_NOFILE), (most, most), "the limit of descriptors")
    jobs = [{"source": "https://example.org/a.flac", "format": "mp3"}] * 100
    status, pushed = Client(port, None)("POST", "/v1/jobs", {"jobs": jobs})
    equal(status, 200, "a push of many jobs")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    named = [id for line in lines if line["message"] == "audit" for id in line["subjects"].split()]
    equal(named, [job["id"] for job in pushed["jobs"]], "the ids in the audit lines")
