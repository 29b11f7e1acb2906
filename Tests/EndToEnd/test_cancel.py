"""A running ten-minute conversion is cancelled at once, leaves nothing, and its slot takes the next job.

At once is a share of what the conversion would have taken, which the conversion of a tenth of it shows.
"""

import datetime
import os
import statistics
import time

import pytest
from service import check, children, equal, until


def seconds(record):
    """How long a job ran."""
    started, finished = (datetime.datetime.fromisoformat(record[name]) for name in ("started_at", "finished_at"))
    return (finished - started).total_seconds()


@pytest.mark.quick
def test_a_cancelled_conversion_stops_at_once_and_leaves_nothing(service, start_worker, audio, figures):
    audio("long.flac", 600, "-compression_level", "0", channels=2)
    worker = start_worker(slots=1)
    job = {"source": service.source("long.flac"), "format": "opus", "threads": "1"}
    times, wholes = [], []
    for _ in range(3):
        long, tenth = service.push(job, job | {"end": "60"})
        record = until("the conversion runs", 30, lambda: (
            lambda record: record["state"] != "waiting" and (record["progress"] or 0) > 0.02 and record)(
                service.status([long])[long]))
        equal((record["state"], record["phase"]), ("running", "converting"), "the job before it is cancelled")
        equal(service.status([tenth])[tenth]["state"], "waiting", "the next job meanwhile")
        begin = time.monotonic()
        service.respool("cancel", long)
        record = service.wait([long], 10, pause=0.01)[long]
        times.append(time.monotonic() - begin)
        equal((record["state"], record["outputs"]), ("cancelled", None), "the job afterwards")
        wholes.append(10 * seconds(service.completed([tenth], 10)[tenth]))
        equal(os.listdir(service.outputs), [f"{tenth}.opus"], "files in the output root")
        os.unlink(f"{service.outputs}/{tenth}.opus")
        equal(service.staged(), [], "staged files")
        equal(len(children(worker.pid)), 2, "children of the slot")
    check(b"cancelled" in service.respool("status", long), "status for people does not say `cancelled`")
    service.check_keys()
    share = statistics.median(times) / statistics.median(wholes)
    check(share < 0.5, f"cancelled only after {times} s, of {wholes} s that the conversions would have taken")
    figures(f"cancelled {', '.join(f'{passed:.2f}' for passed in times)} s after the command began, {share:.2f} of what the conversion "
            "would have taken; no output, nothing staged; the slot's next job completed")
