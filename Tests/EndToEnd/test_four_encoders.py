"""Four encoders make of a cut, tagged or broken source what one encoder makes of it."""

import json
import random
import subprocess

import pytest
from joints import Case, converted, decode, packets, times
from material import waves, write_wave
from processes import check, equal, run
from service import RESPOOL
from sound import ffmpeg

SECONDS = 200
# Codecs with other joints: MediaTests/SegmentPoolTests shows that exact joints have the bytes of one encoder whatever the codec.
FORMATS = {"mp3": (), "opus": ("--bit-rate", "96k"), "m4a": ("--bit-rate", "128k"), "ogg": ("--quality", "5"), "flac": ()}
# Cuts are long enough for joints; those of AAC and Vorbis are a minute apart.
END = {"mp3": 80, "opus": 80, "m4a": 150, "ogg": 150, "flac": 80}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write_wave(folder / "tune.wav", waves(SECONDS)["tune"](), 44100)
    tags = ("-metadata", "title=Über", "-metadata", "artist=A & B", "-metadata", "track=3/9")
    for name, arguments in {"flac": (), "mp3": ("-q:a", "4")}.items():
        ffmpeg("-i", folder / "tune.wav", *tags, *arguments, folder / f"tune.{name}")
    return {"flac": folder / "tune.flac", "mp3": folder / "tune.mp3"}


def tags(path):
    found = json.loads(run("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", path))
    return {**found["format"].get("tags", {}), **found["streams"][0].get("tags", {})}


def attempt(source, path, format, threads, *words):
    """The exit code of a conversion, and its report or its error."""
    words = [RESPOOL, "convert", source, path, "--format", format, "--threads", threads, "--overwrite", "replace", *words, "--json"]
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, timeout=1000)
    report = json.loads(done.stdout) if done.stdout else {}
    return done.returncode, report, done.stderr.decode()


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
def test_cuts_have_the_packets_the_length_and_the_tags_of_one_encoder(sources, tmp_path, figures, format):
    chance, joints = random.Random(format), 0
    for name, source in sources.items():
        span = ("--start", f"{chance.uniform(0, 20):.5f}", "--end", f"{chance.uniform(END[format], END[format] + 20):.5f}")
        case = Case(format, options=(*FORMATS[format], *span))
        made = [converted(source, tmp_path, f"r.{format}", case, case.options, threads) for threads in (1, 4)]
        (one, alone), (four, report) = made
        joints += report["encoders"]["joints"]
        for field in ("duration", "gapless", "warnings", "damage", "settings"):
            equal(report[field], alone[field], f"{field} of {name} at {span}")
        equal(times(packets(four)), times(packets(one)), f"times of the packets of {name} at {span}")
        equal(tags(four), tags(one), f"tags of {name} at {span}")
        check(any("Über" in text for text in tags(four).values()), f"{name}: the tags of the source")
        lengths = [len(decode(path, 44100, 2)) for path, _ in made]
        equal(lengths[1], lengths[0], f"decoded samples of {name} at {span}")
    check(joints >= 2, f"{joints} joints")
    figures(f"{joints} joints")


@pytest.mark.long
def test_a_truncated_source_fails_or_is_kept_as_with_one_encoder(sources, tmp_path):
    format = "mp3"
    for name, source in sources.items():
        content = source.read_bytes()
        broken = tmp_path / f"broken.{name}"
        broken.write_bytes(content[: len(content) * 7 // 10])
        path = tmp_path / f"{name}.{format}"
        (one, _, why), (four, _, same) = (attempt(broken, path, format, threads) for threads in (1, 4))
        check(one != 0 and (four, same) == (one, why), f"{name}: {why!r} with one encoder, {same!r} with four")
        check(not path.exists(), f"{name}: no result")
        kept = []
        for threads in (1, 4):
            status, report, said = attempt(broken, path, format, threads, "--damage", "accept")
            equal(status, 0, f"status of {name}, kept: {said}")
            kept.append((report["duration"], report["damage"], report["warnings"], times(packets(path))))
        equal(kept[1], kept[0], f"what is kept of {name}")
        check(kept[0][0] > 0.6 * SECONDS, f"{name}: most of the sound is kept")
