"""One file that several encoders made, beside the same file of one encoder.

The subset, which is `long`, takes one setting of each way to join, and two synthetic pieces. With `-m soak` (`make joints`), all
settings are taken, with three pieces, with 200 pieces of music of Debian's supertux-data and wesnoth-1.18-music (1.16 in Debian 12), and with 50
synthetic ones at every rate. Packets must have equal times, and not depend on the number of threads; what decoders give is compared
with the source around each joint, and for comparison midway between joints.
"""

import hashlib

import pytest
from joints import Case, Count, compare, converted, judge, spread
from material import music, synthetic, waves, write_wave
from processes import check, equal, run

SECONDS = 150
MATERIAL = ("castanets", "tune", "sweep")

MP3 = Case("mp3", period=147, lead=4, tail=24, choice=16, frame=1152, highest_rate=48000)
# The joint is where both encoders make the same packets.
OPUS = Case("opus", lead=24, tail=350, search=350, frame=960, highest_rate=48000)
# The rate control of its encoders never agrees.
AAC = Case("m4a", seconds=60, lead=64, tail=10, frame=1024, size=0.02, highest_rate=96000)
VORBIS = Case("ogg", seconds=40, period=16, frame=64, is_planned=False)
# Its decoder is late by 80 samples.
SPEEX = Case("speex", options=("--sample-rate", "16000", "--channels", "1"), lead=50, tail=2, frame=320, late=80 + 143, highest_rate=16000)
FLAC = Case("flac", exact=True, frame=4608)
CASES = {
    "mp3 128k": MP3._replace(options=("--bit-rate", "128k"), size=0),
    "mp3 V2": MP3._replace(options=("--quality", "2")),
    "mp3 320k 48 kHz": MP3._replace(options=("--bit-rate", "320k", "--sample-rate", "48000"), size=0),
    "mp3 mono 22 kHz": MP3._replace(options=("--bit-rate", "56k", "--sample-rate", "22050", "--channels", "1"), size=0),
    "mp3 stereo 16 kHz": MP3._replace(options=("--bit-rate", "32k", "--sample-rate", "16000"), size=0, high=1.5),
    "mp3 abr 160k": MP3._replace(options=("--bit-rate", "160k", "--bit-rate-mode", "abr")),
    "mp3 level 2": MP3._replace(options=("--bit-rate", "128k", "--compression-level", "2"), size=0),
    "mp3 level 9": MP3._replace(options=("--bit-rate", "128k", "--compression-level", "9"), size=0),
    "opus 96k": OPUS._replace(options=("--bit-rate", "96k")),
    "opus 64k": OPUS._replace(options=("--bit-rate", "64k"), size=0.02, loss=0.5),
    "opus 32k lowdelay": OPUS._replace(options=("--bit-rate", "32k", "--application", "lowdelay"), size=0.02, loss=0.5),
    "opus 96k cbr": OPUS._replace(options=("--bit-rate", "96k", "--bit-rate-mode", "cbr"), size=0),
    "opus 96k level 0": OPUS._replace(options=("--bit-rate", "96k", "--compression-level", "0")),
    "opus 96k 120 ms": OPUS._replace(options=("--bit-rate", "96k", "--frame-duration", "120"), lead=4, tail=59, search=59, frame=5760),
    "opus 96k 2.5 ms": OPUS._replace(options=("--bit-rate", "96k", "--frame-duration", "2.5"), lead=192, tail=2800, search=2800, frame=120),
    "opus 5.1": OPUS._replace(options=("--bit-rate", "384k", "--channels", "6"), size=0.02),
    "aac 128k": AAC._replace(options=("--bit-rate", "128k")),
    "aac 128k level 0": AAC._replace(options=("--bit-rate", "128k", "--compression-level", "0")),
    "aac adts 96k mono": AAC._replace(format="adts", options=("--bit-rate", "96k", "--channels", "1")),
    "aac q1": AAC._replace(options=("--quality", "1")),
    "speex": SPEEX,
    "vorbis 5.1": VORBIS._replace(options=("--quality", "5", "--channels", "6")),
    "vorbis q5": VORBIS._replace(options=("--quality", "5")),
    "vorbis q2 48 kHz": VORBIS._replace(options=("--quality", "2", "--sample-rate", "48000")),
}
# The settings of the subset: with a bit reservoir, until packets are equal, with a rate control, and where blocks fit.
SUBSET = ("mp3 V2", "opus 96k", "aac 128k", "vorbis q5")
EXACT = {
    "flac": FLAC, "flac 24": FLAC._replace(options=("--sample-format", "s24")), "flac mono": FLAC._replace(options=("--channels", "1")),
    "alac": FLAC._replace(format="alac"), "tta": FLAC._replace(format="tta"), "ac3": FLAC._replace(format="ac3", highest_rate=48000),
    "ac3 160k 48 kHz": FLAC._replace(format="ac3", options=("--bit-rate", "160k", "--sample-rate", "48000"), highest_rate=48000),
    "ac3 5.1": FLAC._replace(format="ac3", options=("--channels", "6"), highest_rate=48000),
    "flac 5.1": FLAC._replace(options=("--channels", "6")), "eac3": FLAC._replace(format="eac3", highest_rate=48000),
    "eac3 5.1": FLAC._replace(format="eac3", options=("--channels", "6"), highest_rate=48000),
    "mp2": FLAC._replace(format="mp2", highest_rate=48000),
    "mp2 64k mono 22 kHz": FLAC._replace(format="mp2", options=("--bit-rate", "64k", "--sample-rate", "22050", "--channels", "1")),
    "wma": FLAC._replace(format="wma", highest_rate=48000),
}
# Settings that suit every rate.
EVERY_RATE = {
    "mp3": MP3, "mp3 V4": MP3._replace(options=("--quality", "4")), "opus": OPUS._replace(size=0.02), "aac": AAC, "vorbis": VORBIS, "flac": FLAC,
    "alac": EXACT["alac"], "tta": EXACT["tta"], "ac3": EXACT["ac3"], "eac3": EXACT["eac3"], "mp2": EXACT["mp2"], "wma": EXACT["wma"],
}


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    kinds = waves(SECONDS)
    for name in MATERIAL:
        write_wave(folder / f"{name}.wav", kinds[name](), 44100)
    return [folder / f"{name}.wav" for name in MATERIAL]


@pytest.fixture(scope="module")
def fallbacks():
    """Collects rows of the table of fallbacks, and prints it."""
    rows = []
    yield rows
    if rows:
        print("\n| codec | material | pieces | with several encoders | joints | fallbacks | share |\n|---|---|---|---|---|---|---|")
        print("\n".join(rows))


@pytest.mark.soak
@pytest.mark.parametrize("name", EXACT)
def test_exact_joints_give_the_bytes_of_one_encoder(material, tmp_path, name):
    case = EXACT[name]
    for source in material:
        extension = "m4a" if case.format == "alac" else case.format
        results = [converted(source, tmp_path, f"o.{extension}", case, case.options, threads) for threads in (1, 3, 4, 7)]
        digests = {hashlib.md5(path.read_bytes()).hexdigest() for path, _ in results}
        check(len(digests) == 1, f"{source.stem}: four files with the same bytes")
        check(all(report["encoders"]["joints"] >= 7 for _, report in results[1:]), "they have several segments")
        check(all(report["encoders"]["fallbacks"] == 0 for _, report in results[1:]), "no encoder went on")
        if extension == "flac":
            run("flac", "-st", results[-1][0])


@pytest.mark.parametrize(("name", "is_subset"), [
    *(pytest.param(name, True, marks=pytest.mark.long) for name in SUBSET), *(pytest.param(name, False, marks=pytest.mark.soak) for name in CASES)])
def test_joints_are_no_noisier_than_the_rest(material, tmp_path, name, is_subset):
    case, count = CASES[name], Count()
    sources, threads, segments = (material[:2], (3, 7), 3.4) if is_subset else (material, (3, 4, 7), 5.4)
    for source in sources:
        piece = tmp_path / source.name
        run("ffmpeg", "-nostdin", "-v", "error", "-i", source, "-t", case.length(44100, segments), "-c", "copy", piece)
        noise, report, *_ = compare(piece, tmp_path, f"{name}, {source.stem}", case, threads)
        judge(f"{name}, {source.stem}", case, noise)
        count.joints += report["joints"]
    check(count.joints > 0, "some joints were found")


def judge_all(name, material, case, pieces, tmp_path, fallbacks):
    count = Count()
    for title, source, rate, channels in pieces:
        count.add(title, source, tmp_path, f"{name}, {title}", case)
    if not count.pieces:
        pytest.skip("neither supertux-data nor Wesnoth's music is installed")
    fallbacks.append(count.row(name, material))
    print(f"{fallbacks[-1]} size {spread([100 * size for size in count.sizes])} %, noise of the file {spread(count.losses)} dB")
    if not case.exact:
        judge(name, case, count.noise)
    check(not count.failures, f"{len(count.failures)} of {count.pieces} pieces: {count.failures[:5]}")
    return count


def check_fallbacks(count, limit):
    # One of a few is no share.
    check(count.fallbacks <= max(limit * (count.joints + count.fallbacks), 1), f"few encoders went on: {count.fallbacks} at {count.joints} joints")


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES | EXACT)
def test_joints_in_music(tmp_path, option, fallbacks, name):
    case = (CASES | EXACT)[name]
    # With few segments, most pieces take less time; every tenth one keeps seven threads busy.
    pieces = music(tmp_path, option("count", 200), lambda number: case.length(44100, 8.4 if number % 10 == 9 else 3.4))
    count = judge_all(name, "music", case, pieces, tmp_path, fallbacks)
    check_fallbacks(count, 0.1 if case.format == "ogg" else 0.02)


@pytest.mark.soak
@pytest.mark.parametrize("name", EVERY_RATE)
def test_joints_at_every_rate(tmp_path, option, fallbacks, name):
    case = EVERY_RATE[name]
    pieces = synthetic(tmp_path, min(option("count", 50), 50), lambda rate, channels: case.length(rate, 3.4))
    judge_all(name, "synthetic", case, pieces, tmp_path, fallbacks)


# Segments of a long recording are longer: 25 s in ten minutes, or 8 MiB.
@pytest.mark.soak
@pytest.mark.parametrize("name", ["mp3 128k", "mp3 V2", "opus 96k"])
def test_joints_in_ten_minutes_of_music(tmp_path, option, fallbacks, name):
    case = CASES[name]
    case = case._replace(seconds=25 if case.format == "mp3" else 21.84)
    pieces = music(tmp_path, max(option("count", 200) // 40, 1), lambda number: 600)
    count = judge_all(name, "ten minutes", case, pieces, tmp_path, fallbacks)
    equal((count.joints + count.fallbacks) // count.pieces, 22 if case.format == "mp3" else 27, "joints of a piece")
    check_fallbacks(count, 0.02)
