"""Mutated files of all formats through one worker: each job has an outcome, and the worker and its slot stay as they were.

10,000 of them, or `--count`, with the seed 1, or `--seed`. Files whose jobs crash, or fail as `internal` or
`timeout`, are kept in a folder that is named.
"""

import collections
import os
import pathlib
import random
import shutil
import tempfile

import pytest
from heaps import descriptors, kilobytes, measure, threads, watched
from sound import SOURCES, encode, melody, write
from service import PREFIX, check, children, equal, until

BATCH = 500
FORMATS = ("wav", "flac", "mp3", "m4a", "opus", "mka", "adts", "ogg", "peaks", "hls")
# Bytes by which the transcoder's heap may grow: what is left of the last job differs.
MOST_GROWTH = 300_000
# What a file that makes no sense may end with.
EXPECTED = {
    None, "corrupt_media", "unsupported_format", "no_audio", "source_truncated", "protected_content", "invalid_time_range",
    "invalid_request", "too_large", "too_long", "policy_denied", "source_not_found",
}
NUMBERS = [bytes(n) for n in (2, 4, 8)] + [b"\xff" * n for n in (2, 4, 8)] + [
    b"\x7f" + b"\xff" * 3, b"\xff" * 3 + b"\x7f", b"\x80" + bytes(3), bytes(3) + b"\x80", b"\0\0\0\1", b"\1\0\0\0"]


def mutated(chance, whole, others):
    """A file with one to eight changes, most of them near its beginning, where headers are."""
    data = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        size = len(data)
        if size < 16:
            break
        place = chance.randrange(min(size, chance.choice((64, 512, 4096, size))))
        length = min(chance.choice((1, 4, 16, 256, 4096)), size - place)
        kind = chance.randrange(9)
        if kind == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place:place + length] = chance.randbytes(length)
        elif kind in (2, 3):
            number = chance.choice(NUMBERS)
            data[place:place + len(number)] = number
        elif kind == 4:
            data[place:place + length] = bytes(length)
        elif kind == 5:
            del data[place:place + length]
        elif kind == 6:
            data[place:place] = data[place:place + length] * chance.choice((1, 1, 8))
        elif kind == 7:
            del data[max(place, 16):]
        else:
            other = chance.choice(others)
            start = chance.randrange(len(other))
            data[place:place + length] = other[start:start + length]
    return bytes(data)


@pytest.mark.soak
def test_the_worker_survives_mutated_files(service, option, figures):
    everything, seed = option("count", 10_000), option("seed", 1)
    # The first of them warm the processes up; of 20,000 and more they take longer than the minute for which a worker remembers how
    # jobs ended.
    first = min(10_000, everything // 2)
    write(f"{service.folder}/all.wav", melody(0.25, channels=2), 2)
    for name, words in SOURCES.items():
        encode(f"{service.folder}/all.wav", f"{service.sources}/{name}", *words)
    wholes = [path.read_bytes() for path in sorted(pathlib.Path(service.sources).iterdir())]
    service.command = watched(service)
    worker = service.worker(slots=1, jobs_per_pair=0, max_crashes=1, keep_done=f"{BATCH}/1h", keep_failed=f"{BATCH}/1h")
    chance = random.Random(seed)
    codes = collections.Counter()
    odd = tempfile.mkdtemp(prefix="respool-mutations.")
    done = 0

    def through(count):
        nonlocal done
        while done < count:
            size = min(BATCH, count - done)
            jobs = []
            for n in range(size):
                (pathlib.Path(service.sources) / f"mutated-{n}").write_bytes(mutated(chance, chance.choice(wholes), wholes))
                fields = {"source": service.source(f"mutated-{n}"), "format": chance.choice(FORMATS), "output": str(n), "attempts": "1",
                          "timeout": "60"}
                if chance.random() < 0.5:
                    fields["damage"] = "accept"
                if chance.random() < 0.2:
                    fields |= {"start": "0.1", "end": "0.2"}
                if chance.random() < 0.1:
                    fields |= {"loudness": "-16"}
                jobs.append(fields)
            ids = service.push(*jobs)
            until(f"{done + size} jobs are over", 600,
                  lambda: service.redis("SCARD", PREFIX + "live") + service.redis("XLEN", PREFIX + "in") == 0, 0.1)
            records = service.status(ids)
            for n, name in enumerate(ids):
                code = (records[name]["error"] or {}).get("code")
                check(records[name]["state"] in ("completed", "failed"), f"{name} is {records[name]['state']}")
                codes[code] += 1
                if code not in EXPECTED:
                    shutil.copy(f"{service.sources}/mutated-{n}", f"{odd}/{done + n}-{code}")
                    print(f"  {odd}/{done + n}-{code} {jobs[n]['format']} {jobs[n].get('damage')}: {records[name]['error']['message']}",
                          flush=True)
            check(worker.is_running, "the worker ended")
            done += size
        until("no job is in hand", 10, lambda: len(children(worker.pid)) == 4)
        return measure(worker), (kilobytes(worker.pid), descriptors(worker.pid), threads(worker.pid))

    before, worker_before = through(first)
    after, worker_after = through(everything)
    equal(service.staged(), [], "staged files")
    service.check_keys()
    told = ", ".join(f"{code or 'completed'} {count:,}" for code, count in codes.most_common())
    lines = []
    for one, end in zip(before, after):
        lines.append(f"{one.program} {one.heap:,} → {end.heap:,} bytes of heap, {one.descriptors} → {end.descriptors} descriptors, "
                     f"{one.threads} → {end.threads} threads" + ("" if one.pid == end.pid else " (another process)"))
        check(end.heap - one.heap <= MOST_GROWTH, f"the heap grew: {lines[-1]}")
        equal(end.descriptors, one.descriptors, f"open descriptors of {one.program}")
        equal(end.threads, one.threads, f"threads of {one.program}")
    lines.append(f"worker {worker_before[0]:,} → {worker_after[0]:,} kB, {worker_before[1]} → {worker_after[1]} descriptors")
    check(worker_after[0] - worker_before[0] <= 8192, f"memory grew: {lines[-1]}")
    check(worker_after[1] <= worker_before[1], f"descriptors grew: {lines[-1]}")
    if not os.listdir(odd):
        os.rmdir(odd)
    unexpected = {code: count for code, count in codes.items() if code not in EXPECTED}
    check(set(unexpected) <= {"crashed"}, f"{unexpected}; their files are in {odd}")
    figures(f"{everything:,} files, seed {seed}: {told}; " + "; ".join(lines))
