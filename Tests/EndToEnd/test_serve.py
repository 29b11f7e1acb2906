"""`respool serve`: a job pushed over HTTP, followed to its end, and what is refused."""

import hashlib
import http.client
import json
import os
import pathlib
import resource
import socket

import pytest
from service import Process, RESPOOL, check, equal, until


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Client:
    """Requests to the server with one token."""

    def __init__(self, port, token):
        self.port, self.token = port, token

    def __call__(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.mark.quick
def test_a_job_pushed_over_http_is_followed_to_its_end(service, start_worker, audio, figures):
    tokens = pathlib.Path(service.folder) / "tokens"
    tokens.write_text("".join(
        f"{role} {role} {hashlib.sha256(f'{role}-secret'.encode()).hexdigest()}\n" for role in ("read", "push", "operate")))
    port, log = free_port(), f"{service.folder}/serve.log"
    server = Process([RESPOOL, "serve", "--listen", f"127.0.0.1:{port}", "--tokens", str(tokens)], log, service.environment)
    read, push, operate, nobody = (Client(port, token) for token in ("read-secret", "push-secret", "operate-secret", None))

    def is_ready():
        try:
            return nobody("GET", "/readyz")[0] == 200
        except OSError:
            return False

    until("the server is ready", 20, is_ready)
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
    equal(server.popen.wait(10), 0, "the exit status of the server")
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    audit = [(line["action"], line["token"]) for line in lines if line["message"] == "audit"]
    equal(audit, [("pushJobs", "push"), ("deleteJob", "operate")], "the audit lines")
    check("secret" not in pathlib.Path(log).read_text(), "a token is in the log")
    figures(f"{pushed['id']} {job['state']} over HTTP, {len(audit)} audit lines")


@pytest.mark.quick
def test_the_server_opens_as_many_descriptors_as_it_may_and_logs_the_ids_of_all_jobs(service):
    port, log = free_port(), pathlib.Path(service.folder) / "serve.log"
    words = ["/usr/bin/prlimit", "--nofile=256:2048", RESPOOL, "serve", "--listen", f"127.0.0.1:{port}"]
    server = Process(words, log, service.environment)
    until("it listens", 20, lambda: "serving the HTTP API" in log.read_text())
    equal(resource.prlimit(server.pid, resource.RLIMIT_NOFILE), (2048, 2048), "the limit of descriptors")
    jobs = [{"source": "https://example.org/a.flac", "format": "mp3"}] * 100
    status, pushed = Client(port, None)("POST", "/v1/jobs", {"jobs": jobs})
    equal(status, 200, "a push of many jobs")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    named = [id for line in lines if line["message"] == "audit" for id in line["subjects"].split()]
    equal(named, [job["id"] for job in pushed["jobs"]], "the ids in the audit lines")
