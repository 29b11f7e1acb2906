"""What others make of the API's document and protocols: schemathesis, a generated client, and a client of tus."""

import importlib
import os
import pathlib
import re
import site
import subprocess
import sys
import urllib.request

import pytest
from page import Site
from processes import check, equal, until
from service import ROOT

TOOLS = ROOT / ".build/python/bin"
# `deploy/install-python` puts the tools and what their clients import there.
site.addsitedir(str(ROOT / f".build/python/lib/python3.{sys.version_info.minor}/site-packages"))

# A schema cannot say everything about a job, a range or a cron expression: those requests may also be refused as 422.
SETTINGS = """
[[operations]]
include-operation-id = ["pushJobs", "retryJob", "changeJobs", "createPreview", "putSchedule"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "403", "404", "409", "422"]
"""


def run(*words, folder, seconds):
    """The output of a tool, which finds its own helpers."""
    environment = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=environment, text=True, timeout=seconds,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(done.returncode, 0, f"the exit status of {pathlib.Path(words[0]).name}: {done.stdout[-8000:]}")
    return done.stdout


@pytest.fixture
def api(service):
    """A server with all its folders, and one token."""
    uploads = pathlib.Path(service.folder) / "uploads"
    uploads.mkdir()
    service.environment |= {"RESPOOL_UPLOAD_DIR": str(uploads)}
    server = Site(service, ["boss operate"])
    yield server
    server.process.popen.kill()


@pytest.fixture
def document(service, api):
    path = pathlib.Path(service.folder) / "openapi.json"
    with urllib.request.urlopen(api.url + "v1/openapi.json", timeout=20) as answer:
        path.write_bytes(answer.read())
    return path


@pytest.mark.long
def test_schemathesis_finds_no_difference_between_the_document_and_the_server(service, api, document, option, figures):
    settings = pathlib.Path(service.folder) / "schemathesis.toml"
    settings.write_text(SETTINGS)
    # Events have no end. After ten wrong tokens of an address the server answers 429, which `ignored_auth` does not expect: AccessTests has them.
    text = run(
        TOOLS / "schemathesis", "--config-file", settings, "run", document, "--url", api.url,
        "--header", "Authorization: Bearer boss-secret", "--exclude-path", "/v1/events", "--checks", "all", "--exclude-checks", "ignored_auth",
        "--max-examples", str(option("count", 3)), "--seed", "1", "--workers", "1", "--generation-database", "none", "--no-color",
        folder=service.folder, seconds=1000)
    cases = re.search(r"^ *(\d+) generated, (\d+) passed(, \d+ skipped)?$", text, re.M)
    check(cases and cases[1] == cases[2] and int(cases[1]) > 800, f"schemathesis printed: {text[-4000:]}")
    log = pathlib.Path(api.log).read_text()
    check("a request failed" not in log, f"the server logged an error: {log[-2000:]}")
    figures(f"{cases[0].strip()}: {text.strip().splitlines()[-1].strip('= ')}")


@pytest.mark.long
def test_a_generated_client_pushes_a_job_and_follows_it_to_its_end(
        service, api, document, start_worker, audio, figures, monkeypatch):
    folder = pathlib.Path(service.folder)
    text = run(
        TOOLS / "openapi-python-client", "generate", "--path", document, "--meta", "none", "--output-path",
        folder / "generated", folder=folder, seconds=1000)
    # Only the type of tus is unknown to the generator.
    equal(re.findall(r"^WARNING parsing (.*)$", text, re.M), ["PATCH /v1/uploads/{upload} within uploads."], "the warnings")
    monkeypatch.syspath_prepend(str(folder))

    def load(name):
        return importlib.import_module(f"generated.{name}")

    models, tags = load("models"), {"jobs": ("push_jobs", "get_job", "list_jobs"), "schedules": ("put_schedule",)}
    calls = {name: load(f"api.{tag}.{name}").sync for tag, names in tags.items() for name in names}
    client = load("client").AuthenticatedClient(base_url=api.url.rstrip("/"), token="boss-secret")
    audio("a.flac", 20)
    fields = models.JobFields(
        source=service.source("a.flac"), format_=models.JobFieldsFormat.MP3, start=5, end="0:10", bit_rate="128k")
    pushed = calls["push_jobs"](client=client, body=fields)
    check(isinstance(pushed, models.PushedJob) and not pushed.duplicate, f"the answer to a push: {pushed}")
    waiting = calls["get_job"](id=pushed.id, client=client)
    check(isinstance(waiting, models.Job) and waiting.outputs is None, f"the job that waits: {waiting}")
    start_worker(slots=1)

    def job():
        return calls["get_job"](id=pushed.id, client=client)

    until("the job ends", 120, lambda: job().state in (models.JobState.COMPLETED, models.JobState.FAILED))
    done = job()
    equal((done.state, done.error), (models.JobState.COMPLETED, None), "the job")
    output = done.outputs[0]
    check(isinstance(output, models.Output) and isinstance(output.gapless, models.Gapless), f"the output: {output}")
    equal((output.duration, output.codec, output.settings["bit_rate"].requested), (5.0, "mp3", 128000), "the output")
    check(done.created_at < done.finished_at, f"the times: {done.created_at} {done.finished_at}")
    listed = calls["list_jobs"](client=client, state=models.JobState.COMPLETED)
    equal([one.id for one in listed.jobs], [pushed.id], "the list")
    problem = calls["push_jobs"](client=client, body=models.JobFields(source="https://a.example/b", codec="mp3"))
    check(isinstance(problem, models.Problem) and problem.status == 422, f"a push without a format: {problem}")
    schedule = calls["put_schedule"](
        schedule="news", client=client, body=models.ScheduleFields(cron="@daily", fields=fields))
    check(isinstance(schedule, models.Schedule) and len(schedule.upcoming) == 5, f"the schedule: {schedule}")
    figures(f"{len(list((folder / 'generated/models').glob('*.py')))} models, job {done.state} with {output.duration} s")


@pytest.mark.long
def test_a_client_of_tus_resumes_an_upload_after_the_server_was_killed(service, api, start_worker, audio, figures):
    from tusclient.client import TusClient
    from tusclient.exceptions import TusCommunicationError
    audio("a.flac", 20)
    path = f"{service.sources}/a.flac"
    size = os.path.getsize(path)
    client = TusClient(api.url + "v1/uploads", headers={"Authorization": "Bearer boss-secret"})
    first = client.uploader(path, chunk_size=size // 5, metadata={"filename": "ä.flac"})
    first.upload_chunk()
    first.upload_chunk()
    api.process.popen.kill()
    api.process.popen.wait()
    with pytest.raises((TusCommunicationError, OSError)):
        first.upload_chunk()
    api.start()
    second = client.uploader(path, chunk_size=size // 5, url=first.url)
    equal(second.offset, size // 5 * 2, "the offset at which the upload goes on")
    second.upload()
    equal(second.offset, size, "the offset at its end")
    upload = first.url.rsplit("/", 1)[1]
    equal((pathlib.Path(service.folder) / "uploads" / upload).read_bytes(), pathlib.Path(path).read_bytes(), "the upload")
    request = urllib.request.Request(
        api.url + "v1/jobs", f'{{"source": "upload:{upload}", "format": "wav"}}'.encode(),
        {"Authorization": "Bearer boss-secret", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        id = answer.headers["Location"].rsplit("/", 1)[1]
    start_worker(slots=1, source_roots=f"{service.sources}:{service.folder}/uploads")
    job = service.wait([id], 120)[id]
    equal((job["state"], job["outputs"][0]["duration"]), ("completed", 20.0), "the job")
    figures(f"{size} bytes in 5 parts, resumed at {size // 5 * 2}, job {job['state']}")
