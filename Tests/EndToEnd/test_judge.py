"""Whether the judge of conversions notices what is wrong: good results are spoiled in every way that it should see."""

import pathlib
from types import SimpleNamespace

import numpy
import pytest
import tagging
from decoding import decode
from judging import judge
from mathematics import SECONDS, wave
from processes import check
from readback import kept, listed, told
from sound import ffmpeg
from variants import Source, Truth

RATE = 44100
CUTS = ((0, None), (216_100, 678_950))


def spoilings():
    """Ways to spoil samples, and whether those of a lossy codec must be told from good ones as well."""
    def with_click(samples):
        changed = samples.copy()
        changed[len(samples) // 2, 0] += 2.0**-15
        return changed

    def silent(samples):
        changed = samples.copy()
        changed[len(samples) // 3:len(samples) // 2] = 0
        return changed

    return {
        "a sample early": (lambda samples: numpy.roll(samples, -1, axis=0), True),
        "a sample late": (lambda samples: numpy.roll(samples, 1, axis=0), True),
        "a sample short": (lambda samples: samples[:-1], True),
        "a sample long": (lambda samples: numpy.vstack([samples, samples[-1:]]), True),
        "channels swapped": (lambda samples: samples[:, ::-1], True),
        "silence in the middle": (silent, True),
        "half as loud": (lambda samples: samples / 2, True),
        "another sign": (lambda samples: -samples, True),
        "one bit of one sample": (with_click, False),
    }


@pytest.mark.soak
def test_the_judge_of_conversions_notices_each_way_to_spoil_a_result(tmp_path, figures):
    folder, noticed = str(tmp_path), 0
    plain = f"{folder}/plain.wav"
    wave(plain, 2, RATE)
    for name, pieces in (("jpg", "color=red:s=48x48"), ("png", "color=blue:s=32x32")):
        ffmpeg("-f", "lavfi", "-i", pieces, "-frames:v", "1", f"{folder}/cover.{name}")
    covers = tagging.covers(f"{folder}/cover.jpg", f"{folder}/cover.png")
    source = Source("flac", "flac")
    path = source.make(plain, folder, 2, RATE, covers)
    truth = Truth(source, path, 2, RATE, plain)
    for codec, words, extension in (("pcm", [], "wav"), ("mp3", ["-b:a", "192k"], "mp3")):
        for cut in CUTS:
            start, end = cut
            first, last = -(-start * RATE // 10**6), -(-(end or SECONDS * 10**6) * RATE // 10**6)
            result = f"{folder}/result.{extension}"
            ffmpeg("-i", path, "-af", f"atrim=start_sample={first}:end_sample={last}", "-vn", "-map_metadata", -1,
                   "-map_chapters", -1, *words, result)
            found = decode([(result, 2, RATE, [])])[0]
            case = SimpleNamespace(source=source, codec=codec, layout=2, rate=RATE, cut=cut)
            output = {"sample_rate": RATE, "channels": 2, "gapless": {"start": 0, "end": 0}, "copied": False}
            fault, _ = judge(case, output, found, truth)
            check(fault is None, f"a good {extension} is held for wrong: {fault}")
            for name, (spoil, is_plain) in spoilings().items():
                if is_plain or codec == "pcm":
                    fault, _ = judge(case, output, spoil(found), truth)
                    check(fault, f"{extension}, {name}: not noticed")
                    noticed += 1
            fault, _ = judge(case, output | {"gapless": {"start": 1, "end": 0}}, found, truth)
            check(fault, f"{extension}, a wrong report of padding: not noticed")
            noticed += 1
    result = f"{folder}/result.mp3"
    tagging.tag(result, covers)
    origin = told(path)
    tagged = {"path": result, "warnings": []}
    for listing in (None, listed([result])[0]):
        check(kept("mp3", origin, tagged, listing)[1] is None, "a well tagged file is held for wrong")
    for frame in ("TIT2", "APIC", "CHAP"):
        file = tagging.File(result)
        whole = pathlib.Path(result).read_bytes()
        file.tags.delall(frame)
        file.save()
        for listing in (None, listed([result])[0]):
            missing = kept("mp3", origin, tagged, listing)[1] or ""
            check("ffprobe" in missing and "mutagen" in missing, f"a file without {frame}: not noticed")
        pathlib.Path(result).write_bytes(whole)
        noticed += 1
    ffmpeg("-i", plain, f"{folder}/bare.ac3")
    bare = {"path": f"{folder}/bare.ac3", "warnings": []}
    check(kept("ac3", origin, bare)[1], "tags that are dropped in silence: not noticed")
    codes = [{"code": code} for code in ("tags_dropped", "pictures_dropped", "chapters_dropped")]
    check(kept("ac3", origin, bare | {"warnings": codes})[1] is None, "what has no place for tags is held for wrong")
    figures(f"{noticed + 1} ways to spoil a result were noticed")
