"""Ten workers under load are replaced one after the other, as a rolling update of Kubernetes does it, and no work is lost."""

import concurrent.futures
import json
import pathlib
import signal
import time

import pytest
from appearances import Appearances
from service import HANG, PREFIX, check, equal, until

WORKERS = 10
# Seconds that a job takes because of its server, and a grace within which each of them ends on any machine.
LENGTHS = (1, 2, 3, 5)
AMPLE = 100


class Rollout:
    """Ten workers with one slot each, and a load for all of them. Sources arrive at the rate of a conversation, so jobs take time
    without much of a processor."""

    def __init__(self, service, start_worker, web, audio, grace):
        self.service = service
        self.start = lambda: start_worker(slots=1, allow_hosts="127.0.0.1", grace=grace)
        for length in LENGTHS:
            audio(f"{length}.wav", length, seed=length)
            web.rules[f"/{length}.wav"] = {"rate": 88_200}
        self.results = Appearances(service.outputs)
        self.workers = [self.start() for _ in range(WORKERS)]
        for worker in self.workers:
            self.until_started(worker)
        self.sources = [f"{web.url}/{length}.wav" for length in LENGTHS]
        self.ids = []
        self.push()
        until("all slots are busy", 20, lambda: service.redis("ZCARD", PREFIX + "lease") == WORKERS)

    def until_started(self, worker):
        until("a worker started", 30, lambda: "worker started" in pathlib.Path(worker.log).read_text(errors="replace"))

    def push(self):
        """Pushes jobs until three for each worker are left, so that no worker is idle, however slow the machine is."""
        redis = self.service.redis
        missing = 3 * WORKERS - redis("SCARD", PREFIX + "live") - redis("XLEN", PREFIX + "in")
        if missing > 0:
            self.ids += self.service.push(*[{"source": self.sources[number % len(LENGTHS)], "format": "wav"}
                                            for number in range(missing)])

    def replace_all(self):
        """Starts a new worker for each, and then ends the old one, which may drain while the next is replaced. Returns the longest
        time that one took to end."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as threads:
            drains = []
            for old in self.workers:
                self.until_started(self.start())
                self.push()
                old.send(signal.SIGTERM)
                drains.append(threads.submit(self.drained, old))
            return max(drain.result() for drain in drains)

    def drained(self, worker):
        """How long a worker takes to end by itself."""
        begin = time.monotonic()
        equal(worker.wait(AMPLE + HANG), 0, "exit status of a replaced worker")
        return time.monotonic() - begin

    def interrupted(self):
        """The jobs that a worker ran when its drain began and did not complete. One whose claim was answered during the drain is
        given back before it starts, and is none of them."""
        jobs = set()
        for worker in self.workers:
            lines = [json.loads(line) for line in pathlib.Path(worker.log).read_text().splitlines()]
            drain = next(index for index, line in enumerate(lines) if line["message"] == "draining")
            jobs |= ({line["job"] for line in lines[:drain] if line["message"] == "claimed"}
                     - {line["job"] for line in lines if line["message"] == "completed"})
        return sorted(jobs)

    def repeated(self):
        """The seconds for which each run had lasted that was given back, from the events of the queue."""
        begun, given_back = {}, []
        for stamp, parts in self.service.redis("XRANGE", PREFIX + "events", "-", "+"):
            event, moment = dict(zip(parts[::2], parts[1::2])), int(stamp.split("-")[0]) / 1000
            if event.get("state") == "running" and "attempt" in event:
                begun[event["id"]] = moment
            elif event.get("state") == "waiting" and event.get("id") in begun:
                given_back.append(moment - begun.pop(event["id"]))
        return given_back


@pytest.mark.parametrize("grace", [
    pytest.param(AMPLE, marks=pytest.mark.long, id="longer-than-its-jobs"), pytest.param(1, marks=pytest.mark.soak, id="shorter-than-its-jobs")])
def test_a_rollout_of_ten_workers_loses_no_job_and_no_attempt(service, start_worker, audio, web, figures, grace):
    rollout = Rollout(service, start_worker, web, audio, grace)
    longest = rollout.replace_all()
    records = service.completed(rollout.ids, 60)
    until("every result appeared", 5, lambda: all(rollout.results.counts[f"{id}.wav"] for id in rollout.ids))
    given_back = rollout.repeated()
    attempts = sum(record["attempt"] for record in records.values())
    twice = [id for id in rollout.ids if rollout.results.counts[f"{id}.wav"] > 1]
    figures(f"grace {grace} s: {len(rollout.ids)} jobs pushed, {len(records)} completed, {attempts} attempts, {len(given_back)} runs "
            f"given back, {sum(given_back):.1f} s of work repeated, longest drain {longest:.1f} s")
    equal(twice, [], "results that appeared twice")
    # A job that was given back is not charged: its next run has the same number.
    equal((attempts, {record["crashes"] for record in records.values()}), (len(rollout.ids), {0}), "attempts, crashes")
    if grace == AMPLE:
        equal(rollout.interrupted(), [], "jobs that a drain gave back although they end within the grace")
    else:
        check(rollout.interrupted(), "no drain gave back a job, so this case shows nothing")
    service.check_keys()
