"""Traces: spans of jobs at a stand-in for a collector, and `traceparent` in events, logs, callbacks and the record."""

import base64
import json
import pathlib
import signal
import socket
import time

import pytest
from collector import Collector
from service import PREFIX, check, equal, until
from web import Server

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{CALLER}-01"
# Ten times the seconds that a worker which drains gives all of its requests.
DRAIN = 30
SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"


@pytest.fixture
def collector():
    stand_in = Collector()
    yield stand_in
    stand_in.close()


def settings(collector, **more):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"} | more


def lines(worker):
    return [json.loads(line) for line in pathlib.Path(worker.log).read_text().splitlines() if line.startswith("{")]


def stop(worker):
    worker.send(signal.SIGTERM)
    equal(worker.wait(), 0, "exit code")


def inside(span, parent):
    """Whether a span lies in the time of another one, of which it is a part."""
    times = [int(one[name]) for one in (parent, span) for name in ("startTimeUnixNano", "endTimeUnixNano")]
    return span["parentSpanId"] == parent["spanId"] and times[0] <= times[2] <= times[3] <= times[1]


@pytest.mark.quick
def test_a_job_joins_the_trace_of_its_caller(service, start_worker, audio, web, collector):
    audio("a.wav", 2)
    receiver = Server(service.sources)
    headers = []
    keep = receiver.server.RequestHandlerClass.do_POST
    receiver.server.RequestHandlerClass.do_POST = lambda self: (headers.append(dict(self.headers)), keep(self))
    worker = start_worker(
        slots=1, allow_hosts="127.0.0.1", allow_output_hosts="127.0.0.1", callback_secret=SECRET,
        environment=settings(collector, OTEL_EXPORTER_OTLP_HEADERS="api-key=k%20v", OTEL_SERVICE_NAME="audio",
                             OTEL_RESOURCE_ATTRIBUTES="deployment.environment=test"))
    job, = service.push({"source": f"{web.url}/a.wav", "format": "mp3", "traceparent": PARENT, "callback": f"{receiver.url}/done"})
    record = service.completed([job], 60)[job]
    equal(record["traceparent"], PARENT, "traceparent of the record")
    until("the spans arrive", 20, lambda: "job" in collector.named(job))
    until("the callback arrives", 20, lambda: headers)
    spans = collector.named(job)
    equal(sorted(spans), ["attempt", "convert", "fetch", "job", "publish", "queued"], "spans")
    equal({span["traceId"] for span in spans.values()}, {TRACE}, "trace")
    equal(spans["job"]["parentSpanId"], CALLER, "parent of the job's span")
    for name in ("attempt", "queued"):
        equal(spans[name]["parentSpanId"], spans["job"]["spanId"], f"parent of {name}")
    for name in ("fetch", "convert", "publish"):
        check(inside(spans[name], spans["attempt"]), f"{name} is not within its attempt: {spans}")
    check(int(spans["convert"]["endTimeUnixNano"]) <= int(spans["publish"]["startTimeUnixNano"]), "the order of convert and publish")
    equal(spans["job"]["values"]["respool.outcome"], "completed", "outcome")
    check("status" not in spans["job"], "the status of a completed job")
    path, sent, body, _ = collector.requests[0]
    equal((path, sent["Content-Type"], sent["api-key"]), ("/v1/traces", "application/json", "k v"), "request")
    resource = {entry["key"]: entry["value"]["stringValue"] for entry in body["resourceSpans"][0]["resource"]["attributes"]}
    equal((resource["service.name"], resource["deployment.environment"]), ("audio", "test"), "resource")
    equal(headers[0]["traceparent"], f"00-{TRACE}-{spans['job']['spanId']}-01", "traceparent of the callback")
    entries = [dict(zip(words[::2], words[1::2])) for _, words in service.redis("XRANGE", PREFIX + "events", "-", "+")]
    equal({entry.get("traceparent") for entry in entries if entry["id"] == job}, {PARENT}, "traceparent of the events")
    own = [line for line in lines(worker) if line.get("job") == job and "attempt" in line and "callback" not in line]
    check(own and all(line["trace_id"] == TRACE for line in own), f"the log names no trace: {own}")


@pytest.mark.long
def test_each_attempt_has_spans_and_errors_are_told(service, start_worker, audio, web, collector):
    audio("a.wav", 1)
    web.rules["/a.wav"] = {"status": 503, "retry_after": 600}
    start_worker(slots=1, allow_hosts="127.0.0.1", environment=settings(collector))
    job, = service.push({"source": f"{web.url}/a.wav", "format": "mp3", "attempts": "2"})
    until("the first attempt has failed", 30, lambda: service.status([job])[job]["state"] == "delayed")
    web.rules.clear()
    service.respool("reschedule", "--now", job)
    service.completed([job], 60)
    until("the spans arrive", 20, lambda: "job" in collector.named(job))
    attempts = sorted((span for span in collector.spans(job) if span["name"] == "attempt"), key=lambda span: span["values"]["respool.attempt"])
    equal([span["values"]["respool.outcome"] for span in attempts], ["failed", "completed"], "outcomes")
    equal(attempts[0]["values"]["error.type"], "source_unreachable", "code")
    equal(attempts[0]["status"]["code"], 2, "status")
    equal(len({span["spanId"] for span in collector.spans(job)}), len(collector.spans(job)), "ids of spans")
    equal({span["traceId"] for span in collector.spans(job)}, {collector.named(job)["job"]["traceId"]}, "trace without a caller")
    check("parentSpanId" not in collector.named(job)["job"], "the job's span has a parent")
    failed, = service.push({"source": f"{web.url}/missing.wav", "format": "mp3"})
    service.wait([failed], 60)
    until("the spans arrive", 20, lambda: "job" in collector.named(failed))
    ended = collector.named(failed)["job"]
    equal((ended["values"]["error.type"], ended["status"]["code"]), ("source_not_found", 2), "the job's error")


@pytest.mark.long
def test_sampling_is_honoured(service, start_worker, audio, collector):
    audio("a.wav", 1)
    worker = start_worker(slots=2, environment=settings(collector, OTEL_TRACES_SAMPLER="parentbased_always_off"))
    job = {"source": service.source("a.wav"), "format": "flac"}
    silent, = service.push(job)
    unsampled, = service.push(job | {"traceparent": PARENT[:-1] + "0"})
    sampled, = service.push(job | {"traceparent": PARENT})
    service.completed([silent, unsampled, sampled], 60)
    until("the spans arrive", 20, lambda: "job" in collector.named(sampled))
    stop(worker)
    equal({span["values"]["respool.job"] for span in collector.spans() if span["name"] == "job"}, {sampled}, "jobs with spans")
    names = {line.get("trace_id") for line in lines(worker) if line.get("job") == unsampled and line.get("attempt")}
    equal(names, {TRACE}, "trace in the log of a job that is not sampled")


@pytest.mark.long
def test_a_collector_that_refuses_or_is_gone_holds_up_no_job(service, start_worker, audio, collector, figures):
    audio("a.wav", 1)
    collector.answers = [(503, {"Retry-After": "1"}), 429]
    worker = start_worker(slots=2, environment=settings(collector))
    job = {"source": service.source("a.wav"), "format": "flac"}
    first, = service.push(job)
    service.completed([first], 60)
    until("the spans are sent again", 30, lambda: "job" in collector.named(first))
    pause = collector.times[1] - collector.times[0]
    check(pause >= 1, f"a collector that asks for a second was asked again after {pause:.1f} s")
    equal([request[3] for request in collector.requests[:3]], [503, 429, 200], "statuses")
    check(collector.requests[0][2] == collector.requests[1][2] == collector.requests[2][2], "other spans were sent again")
    collector.answers = [400]
    second, = service.push(job)
    service.completed([second], 60)
    until("the refusal is told", 20, lambda: any("spans are dropped" in line["message"] for line in lines(worker)))
    told = next(line for line in lines(worker) if "spans are dropped" in line["message"])
    check("status 400" in told["message"], f"{told}")
    equal(collector.named(second), {}, "spans of a refused request")
    collector.close()
    jobs = service.push(*[job] * 20)
    service.completed(jobs, 60)
    begin = time.monotonic()
    stop(worker)
    seconds = time.monotonic() - begin
    check(seconds < DRAIN, f"the worker waited {seconds:.1f} s for the collector")
    figures(f"asked again after {pause:.1f} s, drained in {seconds:.2f} s")


@pytest.mark.long
def test_a_collector_that_never_answers_does_not_hold_up_a_worker_that_drains(service, start_worker, audio, figures):
    audio("a.wav", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        worker = start_worker(slots=2, environment={
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}", "OTEL_BSP_SCHEDULE_DELAY": "100"})
        # Several requests' worth of spans.
        service.completed(service.push(*[{"source": service.source("a.wav"), "format": "flac"}] * 30), 60)
        begin = time.monotonic()
        stop(worker)
        seconds = time.monotonic() - begin
    check(seconds < DRAIN, f"the worker took {seconds:.1f} s to drain")
    check(any("spans are dropped" in line["message"] for line in lines(worker)), "the lost spans are not told")
    figures(f"drained in {seconds:.1f} s")


@pytest.mark.long
def test_spans_are_what_the_protocol_of_opentelemetry_has(service, start_worker, audio, collector):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

    audio("a.wav", 1)
    worker = start_worker(slots=2, environment=settings(collector, OTEL_BSP_SCHEDULE_DELAY="60000"))
    jobs = service.push(*[{"source": service.source("a.wav"), "format": "flac", "traceparent": PARENT}] * 15)
    service.completed(jobs, 60)
    # What waits is sent when the worker stops.
    stop(worker)
    count = 0
    for _, _, body, _ in collector.requests:
        for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            # The JSON form of OTLP has ids in hexadecimal digits, that of Protocol Buffers in Base64.
            for name in ("traceId", "spanId", "parentSpanId"):
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        message = json_format.ParseDict(body, trace_service_pb2.ExportTraceServiceRequest())
        spans = message.resource_spans[0].scope_spans[0].spans
        check(len(spans) <= 64, f"{len(spans)} spans in a request")
        check(all(len(span.trace_id) == 16 and len(span.span_id) == 8 and span.end_time_unix_nano >= span.start_time_unix_nano for span in spans), "a span is not valid")
        count += len(spans)
    # Of each job: job, queued, attempt, convert, publish.
    equal(count, 75, "spans")
