"""Sources from a server: an index at the file's end is fetched ahead, and a broken connection is resumed."""

import pathlib

import pytest
from sound import decode, same
from service import check, equal


SECONDS = 300


@pytest.mark.long
def test_an_index_is_fetched_ahead_and_a_broken_connection_is_resumed(service, start_worker, audio, web, figures):
    audio("a.mp4", SECONDS, "-b:a", "128k")
    whole = pathlib.Path(f"{service.sources}/a.mp4").read_bytes()
    index = whole.rfind(b"moov")
    check(index > len(whole) * 0.9, "the MP4's index was to be at its end")
    half = len(whole) // 2
    for name in ("slow", "cut", "plain"):
        (pathlib.Path(service.sources) / f"{name}.mp4").symlink_to("a.mp4")
    web.rules = {"/slow.mp4": {"rate": 5_000_000}, "/cut.mp4": {"rate": 20_000_000, "cut": half},
                    "/plain.mp4": {"ranges": False}}
    start_worker(slots=1, allow_hosts="127.0.0.1")
    urls = [service.source("a.mp4")] + [f"{web.url}/{name}.mp4" for name in ("slow", "cut", "plain")]
    ids = service.push(*({"source": url, "format": "flac"} for url in urls))
    records = service.completed(ids, 120)
    local, *remote = (decode(f"{service.outputs}/{id}.flac") for id in ids)
    check(abs(len(local) // 2 - SECONDS * 44100) <= 2048, f"the local file gave {len(local) // 2} samples")
    for url, raw in zip(urls[1:], remote):
        same(raw, local, f"{url} beside the local file")
    equal({record["attempt"] for record in records.values()}, {1}, "attempts")

    slow, cut = web.of("/slow.mp4"), web.of("/cut.mp4")
    ahead = [request for request in slow if request[1] is not None and request[1] > request[4]]
    check(ahead, f"no range request ahead: {slow}")
    check(ahead[0][1] <= index, f"the request ahead began at {ahead[0][1]:,}, behind the index at {index:,}")
    fetched = sum(request[3] for request in slow)
    check(fetched < len(whole) * 1.5, f"{fetched:,} bytes were fetched of {len(whole):,}")
    broken = cut[0][3]
    check(half <= broken < half + (1 << 17), f"the connection was to break after {half:,} bytes: {cut}")
    resumed = [request for request in cut[1:] if request[1] is not None and broken - (1 << 21) < request[1] <= broken]
    check(resumed, f"no request took up where the connection broke: {cut}")
    check(sum(request[3] for request in cut) < len(whole) * 1.5, f"too much was fetched again: {cut}")
    equal(service.staged(), [], "files left in the spool")
    figures(f"index at {index:,} of {len(whole):,} bytes, asked for by `bytes={ahead[0][1]}-` when {ahead[0][4]:,} bytes "
            f"were sent; cut after {broken:,} bytes, resumed at {resumed[0][1]:,}; {len(local) // 2:,} samples, "
            "the same from all")
