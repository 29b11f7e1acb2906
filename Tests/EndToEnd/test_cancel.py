"""A running ten-minute conversion is cancelled at once, leaves nothing, and its slot takes the next job."""

import os
import time

import pytest
from service import check, children, equal, until


@pytest.mark.quick
@pytest.mark.alone
def test_a_cancelled_conversion_stops_at_once_and_leaves_nothing(service, start_worker, audio, option, figures):
    audio("long.flac", 600, "-compression_level", "0", channels=2)
    audio("short.wav", 2)
    worker = start_worker(slots=1)
    times = []
    for _ in range(3):
        long, short = service.push({"source": service.source("long.flac"), "format": "opus"},
                                  {"source": service.source("short.wav"), "format": "flac"})
        record = until("the conversion runs", 30, lambda: (
            lambda record: record["state"] != "waiting" and (record["progress"] or 0) > 0.02 and record)(
                service.status([long])[long]))
        equal((record["state"], record["phase"]), ("running", "converting"), "the job before it is cancelled")
        equal(service.status([short])[short]["state"], "waiting", "the next job meanwhile")
        begin = time.monotonic()
        service.respool("cancel", long)
        record = service.wait([long], 10, pause=0.01)[long]
        times.append(time.monotonic() - begin)
        equal((record["state"], record["outputs"]), ("cancelled", None), "the job afterwards")
        check(times[-1] <= option("slack", 1.5), f"cancelled only after {times[-1]:.2f} s")
        service.completed([short], 10)
        next = time.monotonic() - begin
        equal(os.listdir(service.outputs), [f"{short}.flac"], "files in the output root")
        os.unlink(f"{service.outputs}/{short}.flac")
        equal(service.staged(), [], "staged files")
        equal(len(children(worker.pid)), 2, "children of the slot")
    check(b"cancelled" in service.respool("status", long), "status for people does not say `cancelled`")
    service.check_keys()
    figures(f"cancelled {', '.join(f'{seconds:.2f}' for seconds in times)} s after the command began, no output, nothing "
            f"staged; the slot's next job completed after {next:.2f} s")
