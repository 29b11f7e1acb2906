"""A ramp, cut between two samples that are no round times, into every lossless format."""

import array
import pathlib
import wave

import pytest
from sound import RATE, decode, encode, samples, write
from service import check, equal

FIRST, LAST = 1_234_567, 2_345_678
FORMATS = {"wav": "wav", "aiff": "aiff", "caf": "caf", "flac": "flac", "alac": "m4a"}


@pytest.mark.long
def test_a_ramp_is_cut_to_the_sample_in_every_lossless_format(service, start_worker, figures):
    ramp = array.array("h", range(-32768, 32768)) * 40
    write(f"{service.folder}/ramp.wav", ramp)
    encode(f"{service.folder}/ramp.wav", f"{service.sources}/ramp.flac")
    start_worker(slots=1)
    ids = service.push(*({"source": service.source("ramp.flac"), "format": format, "start": f"{FIRST}/{RATE}",
                         "end": f"{LAST}/{RATE}"} for format in FORMATS))
    records = service.completed(ids, 120)
    expected = ramp[FIRST:LAST]
    for id, (format, extension) in zip(ids, FORMATS.items()):
        path = pathlib.Path(service.outputs) / f"{id}.{extension}"
        found = samples(decode(path))
        equal(len(found), LAST - FIRST, f"samples of the {format}")
        equal((found[0], found[-1]), (expected[0], expected[-1]), f"first and last sample of the {format}")
        check(found == expected, f"the {format} is not the ramp")
        equal(records[id]["outputs"][0]["bytes"], path.stat().st_size, f"bytes of the {format}")
    with wave.open(f"{service.outputs}/{ids[0]}.wav") as file:
        equal(file.getnframes(), LAST - FIRST, "frames in the WAV's own header")
    figures(f"{LAST - FIRST:,} samples from {expected[0]} to {expected[-1]} in {', '.join(FORMATS)}: the ramp's own")
