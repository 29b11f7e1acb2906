"""A result of more than 4 GiB: WAV becomes RF64 with sizes of 64 bits, and AIFF, which has none, is refused."""

import os
import shutil
import struct
import tempfile

import pytest
from service import RESPOOL, check, equal, run

SECONDS = 22_400
SECOND = 192_000  # Bytes of 48,000 stereo samples of 16 bits.
AUDIO = SECONDS * SECOND
GUID = bytes.fromhex("f3acd3118cd100c04f8edb8a")
RIFF = bytes.fromhex("2e91cf11a5d628db04c10000")
SOUND = bytes(number * 7919 >> 4 & 255 for number in range(SECOND))


def write(path):
    """A Wave64 file of silence, which takes no room, with one second of sound at its end."""
    form = struct.pack("<HHIIHH", 1, 2, 48_000, SECOND, 4, 16)
    head = (b"riff" + RIFF + struct.pack("<Q", AUDIO + 104) + b"wave" + GUID + b"fmt " + GUID + struct.pack("<Q", 40)
            + form + b"data" + GUID + struct.pack("<Q", AUDIO + 24))
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + AUDIO)
        file.seek(len(head) + AUDIO - SECOND)
        file.write(SOUND)


@pytest.mark.soak
def test_a_result_of_more_than_4_gib_is_rf64_and_aiff_refuses_it(service, figures):
    if shutil.disk_usage(tempfile.gettempdir()).free < 10 << 30:
        pytest.skip(f"wants 10 GiB free in {tempfile.gettempdir()}")
    source, result, refused = (f"{service.folder}/{name}" for name in ("long.w64", "long.wav", "long.aiff"))
    write(source)
    check(AUDIO > 1 << 32, "the sound is too short")
    service.respool("convert", source, result, seconds=1000)
    length = os.path.getsize(result)
    with open(result, "rb") as file:
        head = file.read(80)
        file.seek(length - SECOND)
        equal(file.read() == SOUND, True, "the sound at the end")
    equal((head[:4], head[8:16]), (b"RF64", b"WAVEds64"), "the kind of file")
    equal(struct.unpack("<QQQ", head[20:44]), (length - 8, AUDIO, AUDIO // 4), "the sizes in ds64")
    equal((length, head[72:80]), (80 + AUDIO, b"data" + b"\xff" * 4), "the length of the file")
    told = run("ffprobe", "-v", "error", "-show_entries", "stream=duration", "-of", "csv=p=0", result).decode()
    equal(float(told), SECONDS, "the seconds that ffprobe tells")
    os.remove(result)
    words = run("sh", "-c", '"$@" 2>&1 || true', "sh", RESPOOL, "convert", source, refused, seconds=1000).decode()
    check("larger than 4294967231 bytes" in words and "use caf, wav or flac" in words, f"AIFF: {words}")
    check(not os.path.exists(refused), "there is an AIFF file")
    figures(f"{length} bytes of RF64, and no AIFF")
