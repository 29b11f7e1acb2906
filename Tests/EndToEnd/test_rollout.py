"""Ten workers under load are replaced one after the other, as a rolling update of Kubernetes does it, and no work is lost."""

import pathlib
import signal
import time

import pytest
from appearances import Appearances
from service import PREFIX, check, equal, until

WORKERS = 10
# Seconds that a job takes because of its server, and the grace within which each of them ends.
LENGTHS = (1, 2, 3, 5)
AMPLE = 20
# What a worker takes after the grace to publish and to report.
AFTER_GRACE = 15


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
        # Distinct fields make distinct jobs; what a job does is the same each time.
        self.ids = service.push(*[{"source": f"{web.url}/{LENGTHS[number % len(LENGTHS)]}.wav", "format": "wav"}
                                  for number in range(110)])
        until("all slots are busy", 20, lambda: service.redis("ZCARD", PREFIX + "lease") == WORKERS)

    def until_started(self, worker):
        until("a worker started", 30, lambda: "worker started" in pathlib.Path(worker.log).read_text(errors="replace"))

    def replace_all(self):
        """Starts a new worker for each, and then ends the old one, which may drain while the next is replaced. Returns the longest
        time that one took to end."""
        began, drains = {}, []
        for old in self.workers:
            self.until_started(self.start())
            # As `minReadySeconds` spaces a rollout; and the moments differ from those at which jobs begin.
            time.sleep(0.7)
            old.send(signal.SIGTERM)
            began[old] = time.monotonic()

        def all_ended():
            for old in [old for old in began if not old.is_running]:
                drains.append(time.monotonic() - began.pop(old))
                equal(old.wait(1), 0, "exit status of a replaced worker")
            return not began

        until("all replaced workers ended", AMPLE + AFTER_GRACE, all_ended)
        return max(drains)

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


@pytest.mark.long
@pytest.mark.parametrize("grace", [AMPLE, 1], ids=["longer-than-its-jobs", "shorter-than-its-jobs"])
def test_a_rollout_of_ten_workers_loses_no_job_and_no_attempt(service, start_worker, audio, web, figures, grace):
    rollout = Rollout(service, start_worker, web, audio, grace)
    longest = rollout.replace_all()
    left = service.redis("SCARD", PREFIX + "live")
    check(left > 0, "the load ended before the rollout, so the last workers were idle")
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
        equal(given_back, [], "jobs that a drain gave back although they end within the grace")
    else:
        check(given_back, "no drain gave back a job, so this case shows nothing")
    service.check_keys()
