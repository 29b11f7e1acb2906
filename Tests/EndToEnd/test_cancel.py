"""A running ten-minute conversion is cancelled at once, leaves nothing, and its slot takes the next job.

At once is a share of what the conversion would have taken, which the conversion of a tenth of it shows.
"""

import datetime
import os
import statistics
import threading
import time

import pytest
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import DTPHandler, FTPHandler
from pyftpdlib.servers import FTPServer
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


class HeldData(DTPHandler):
    """Reads nothing of what is sent."""

    def enable_receiving(self, *words):
        super().enable_receiving(*words)
        self.ioloop.unregister(self._fileno)
        self.cmd_channel.server.is_held.set()


@pytest.mark.quick
@pytest.mark.parametrize("end", ["cancel", "timeout"])
def test_an_upload_that_nobody_can_see_yet_is_ended_and_removed(service, start_worker, audio, tmp_path, end):
    users = DummyAuthorizer()
    users.add_user("me", "secret", str(tmp_path), perm="elradfmwMT")
    handler = type("Held", (FTPHandler,), {"authorizer": users, "dtp_handler": HeldData})
    server = FTPServer(("127.0.0.1", 0), handler)
    server.is_held = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        # More than sockets hold.
        audio("long.flac", 120, "-compression_level", "0", channels=2)
        start_worker(slots=1, output_schemes="ftp", allow_output_hosts="127.0.0.1")
        job = {"source": service.source("long.flac"), "format": "wav"}
        output = f"ftp://me:secret@127.0.0.1:{server.socket.getsockname()[1]}/held.wav"
        held, = service.push(job | {"output": output, "attempts": "1"} | ({"timeout": "3"} if end == "timeout" else {}))
        check(server.is_held.wait(60), "the upload does not begin")
        # Its slot converts the next job meanwhile.
        if end == "cancel":
            service.completed(service.push(job), 30)
            check(service.status([held])[held]["phase"] != "publishing", "the job is publishing before its upload is complete")
            check(b"requested" in service.respool("cancel", "--json", held), "it cannot be cancelled")
        record = service.wait([held], 30)[held]
        state = (record["state"], record["error"] and record["error"]["code"])
        equal(state, ("cancelled", None) if end == "cancel" else ("failed", "timeout"), "the end of the job")
        until("the file is removed", 30, lambda: not os.listdir(tmp_path))
    finally:
        server.close_all()
