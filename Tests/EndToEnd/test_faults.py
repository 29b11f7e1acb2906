"""Every fault of Redis, of the way to it and of workers, one after the other, while jobs are pushed all the time.

Prints the totals: jobs pushed and finished, results that appeared twice or got lost, the longest time from a kill to the job
running again, and of each fault how soon the workers noticed it and how soon after its end they worked again. The `long` test
goes through lost replies, killed workers and a killed Redis alone; the `soak` test through all faults, `--count` times. A slot of a cluster
that moves, a shard that is lost, and sentinels: JobsTests/ClusterTests, WorkerTests/FaultTests.
"""

import os

import outages
import pytest
from fleet import Fleet
from lostreplies import LONG, LostReplies
from processes import HANG, free_port
from service import Redis, check, until

MOMENTS = [("claim", "reply"), ("publish", "request"), ("publish", "reply"), ("finish", "request"), ("finish", "reply")]


def boundaries(fleet):
    """Workers are killed on both sides of each script, and one in the middle of a long job."""
    long = fleet.service.push({"source": fleet.web.url + LONG, "format": "mp3", "priority": "high"})[0]
    fleet.service.wait([long], 10, states=("running",))
    holder = fleet.holder(long)
    fleet.kill(holder)
    rule = fleet.web.rules.pop(LONG)
    fleet.steady[fleet.steady.index(holder)] = fleet.worker(ahead=holder.ahead)
    victims = [fleet.worker(slots=1) for _ in MOMENTS]
    for worker, moment in zip(victims, MOMENTS):
        until("a victim has done a job", 30, lambda: worker.proxy.seen.get("finish"))
        worker.trapped = worker.proxy.trap(*moment, lambda worker=worker: fleet.kill(worker))
    for worker, moment in zip(victims, MOMENTS):
        check(worker.trapped.wait(HANG), f"no {moment[1]} of `{moment[0]}` at which a worker could be killed")
    times = fleet.takeovers()
    fleet.service.completed([long], 30)
    fleet.web.rules[LONG] = rule
    return times


@pytest.mark.redis_options("--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command", "yes", tcp=True)
@pytest.mark.parametrize("is_short", [
    pytest.param(True, marks=pytest.mark.long), pytest.param(False, marks=pytest.mark.soak)], ids=["short", "all"])
def test_no_job_is_lost_or_done_twice_through_faults(service, option, figures, is_short):
    fleet = Fleet(service)
    takeovers, cut = [], 0
    for number in range(1 if is_short else option("count", 5)):
        lost = LostReplies(fleet, number).all()
        takeovers += boundaries(fleet)
        if not is_short:
            cut += outages.shaky(fleet)
            outages.memory_full(fleet)
            outages.all_of_one_server(fleet)
    if is_short:
        outages.crash(fleet)
        line = fleet.totals()
    else:
        folder = f"{service.folder}/replica"
        os.mkdir(folder)
        other = Redis(folder, "--appendonly", "yes", port=free_port())
        other("REPLICAOF", "127.0.0.1", service.redis.port)
        outages.promotion(fleet, other)
        forgotten, undone = outages.power_cut(fleet)
        line = (f"{fleet.totals(forgotten, undone)} ({len(forgotten)} pushes and {len(undone)} ends in the second that everysec "
                f"lost); {cut} connections cut")
    figures(f"{line}; replies lost of {lost} scripts; {len(MOMENTS) + 1} workers killed a round, "
            f"{len(takeovers)} jobs taken over after at most {max(takeovers):.1f} s; one clock a day ahead")
