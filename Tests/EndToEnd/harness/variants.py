"""The variants of a source, each encoded by ffmpeg and tagged as far as its container permits."""

import pathlib

import numpy
from decoding import SPEEX, decode
from mathematics import RATES, SECONDS, lag, signal
from processes import check
from sound import ffmpeg
from tagging import ALL, CHAPTERS, tag

MPEG = (8000, 11025, 16000, 22050, 32000, 44100, 48000)
AAC = (*MPEG, 88200, 96000)
DOLBY = ["-cons_noisegen", "1", "-drc_scale", "0"]
LAYER_TWO = ["-c:a", "mp2float"]
OPUS = ["-c:a", "libopus", "-request_sample_fmt", "flt"]
# ffmpeg's options, the supported rates and layouts, and the quality in dB per codec. Decoders of `noisy` codecs synthesize
# noise, so that no two decodes are equal.
CODECS = {
    "pcm": dict(), "flac": dict(words=["-c:a", "flac"]), "alac": dict(words=["-c:a", "alac"]),
    "wavpack": dict(words=["-c:a", "wavpack"]), "tta": dict(layouts=(1, 2)),
    "truehd": dict(words=["-c:a", "truehd", "-strict", "-2"], rates=(44100, 48000, 88200, 96000, 192000), layouts=(2, 6)),
    "mp3": dict(words=["-c:a", "libmp3lame", "-b:a", "320k"], rates=(32000, 44100, 48000), layouts=(1, 2), floor=15),
    "aac": dict(words=["-c:a", "aac", "-aac_pns", "0", "-b:a", "256k"], rates=AAC, floor=10),
    # In the speech modes, its reference decodes to a sample earlier than what was encoded.
    "opus": dict(words=["-c:a", "libopus", "-application", "lowdelay", "-b:a", "192k"], rates=(8000, 16000, 48000), floor=10,
                 coded_rate=48000, decoding=OPUS),
    "vorbis": dict(words=["-c:a", "libvorbis", "-q:a", "6"], rates=(22050, 32000, 44100, 48000), floor=10),
    "ac3": dict(words=["-c:a", "ac3", "-b:a", "448k"], rates=(32000, 44100, 48000), floor=10, decoding=DOLBY),
    "eac3": dict(words=["-c:a", "eac3", "-b:a", "448k"], rates=(32000, 44100, 48000), floor=10, decoding=DOLBY),
    "mp2": dict(words=["-c:a", "mp2"], rates=(16000, 22050, 32000, 44100, 48000), layouts=(1, 2), floor=10, decoding=LAYER_TWO),
    "wma": dict(words=["-c:a", "wmav2", "-b:a", "192k"], rates=MPEG, layouts=(1, 2), floor=10,
                noisy=True),
    "dts": dict(words=["-c:a", "dca", "-strict", "-2"], rates=(32000, 44100, 48000), layouts=(1, 2, 6), floor=10),
    "ima4": dict(words=["-c:a", "adpcm_ima_qt"], layouts=(1, 2), floor=12),
    "ima": dict(words=["-c:a", "adpcm_ima_wav"], layouts=(1, 2), floor=4),
    "mulaw": dict(words=["-c:a", "pcm_mulaw"], floor=25),
    # The samples of the reference are not those of libav's own decoder, which respool has.
    "speex": dict(words=["-c:a", "libspeex"], rates=(8000, 16000, 32000), layouts=(1, 2), floor=0, speech=True,
                  decoding=SPEEX, noisy=bool(SPEEX)),
    "gsm": dict(words=["-c:a", "libgsm"], rates=(8000,), layouts=(1,), floor=0, speech=True),
}


class Source:
    """A variant of a source.

    `delayed`: has priming or padding that the file does not declare. `trimmed`: is shorter than ffmpeg's output,
    because ffmpeg does not remove the padding that the container declares. `chained`: consists of two consecutive
    streams.
    """

    def __init__(self, name, codec="pcm", *words, extension=None, delayed=False, trimmed=False, chained=False, **changes):
        kind = CODECS[codec] | changes
        self.name, self.codec, self.extension = name, codec, extension or name
        self.words = [*kind.get("words", ()), *words]
        self.rates, self.layouts = kind.get("rates"), kind.get("layouts", (1, 2, 6))
        self.lossy, self.floor = "floor" in kind, kind.get("floor", 60)
        self.speech, self.noisy, self.decoding = kind.get("speech", False), kind.get("noisy", False), kind.get("decoding", [])
        self.floating = "pcm_f32le" in self.words
        self.coded_rate = kind.get("coded_rate")
        self.delayed, self.trimmed, self.chained = delayed, trimmed, chained

    def takes(self, layout, rate):
        return layout in self.layouts and (self.rates is None or rate in self.rates)

    @property
    def shape(self):
        """The channels and the rate for which one conversion represents all others."""
        shapes = ((2, 44100), (2, 48000), (1, 8000))
        return next(shape for shape in shapes if self.takes(*shape))

    def rate(self, rate):
        """The sample rate in Hz of the decoded source, for the rate at which it was made."""
        return self.coded_rate or rate

    def make(self, plain, folder, layout, rate, covers):
        """Encodes the signal, and returns the file's path."""
        path = f"{folder}/{self.name}-{layout}-{rate}.{self.extension}"
        if self.chained:
            halves = [f"{path}.{half}.{self.extension}" for half in (1, 2)]
            for half, cut in zip(halves, (["-t", SECONDS / 2], ["-ss", SECONDS / 2])):
                ffmpeg(*cut, "-i", plain, *self.words, half)
            pathlib.Path(path).write_bytes(b"".join(pathlib.Path(half).read_bytes() for half in halves))
            return path
        is_fragmented = "-frag_duration" in self.words
        # mutagen supports these; it would damage RF64 and fragments.
        known = ("mp3", "m4a", "mp4", "flac", "oga", "ogg", "opus", "spx", "wav", "aiff", "wv", "tta", "wma")
        is_tagged = self.extension in known and not is_fragmented and self.name != "rf64"
        given = ["-map_metadata", "-1"] if is_tagged else ["-metadata", f"title={ALL['title'][0]}"]
        if self.extension in ("m4a", "mp4", "mov", "mka") and not is_fragmented:
            given = ["-i", chapters(folder), "-map", "0:a", "-map_metadata", "1", "-map_chapters", "1"]
        if self.extension == "mka":
            given += ["-attach", f"{folder}/cover.jpg", "-metadata:s:t", "mimetype=image/jpeg", "-metadata:s:t",
                      "filename=cover.jpg"]
        ffmpeg("-i", plain, *given, *self.words, path)
        if is_tagged:
            tag(path, covers)
        return path


class Truth:
    """The expected contents of a source: its length, the delay of the signal, and its samples if all decodes must be equal."""

    def __init__(self, source, path, layout, rate, plain):
        self.rate = source.rate(rate)
        self.length = SECONDS * self.rate
        self.delay = 0
        self.samples = None
        if source.chained and source.lossy:
            return
        if source.chained:
            self.samples = decode([(plain, layout, rate, [])])[0]
            return
        found = decode([(path, layout, self.rate, source.decoding)])[0]
        check(not isinstance(found, Exception), f"{source.name}: {found}")
        if source.delayed:
            self.length = len(found)
            size = min(len(found), SECONDS * self.rate)
            wanted = signal(layout, self.rate, 0, size)
            self.delay = (lag(numpy.abs(found[:size]), numpy.abs(wanted), self.rate) if source.speech
                          else lag(found[:size], wanted, self.rate))
        if source.codec == "vorbis" and len(found) < self.length:
            # libav drops the first block of Vorbis in a file of a single page.
            return
        if len(found) < self.length or not (source.trimmed or source.delayed) and len(found) > self.length + 4096:
            check(False, f"{source.name}: ffmpeg finds {len(found)} samples in it and not {self.length}")
        self.samples = found

    def trim(self, length):
        """Takes the length that the container declares, and removes the priming that ffmpeg keeps if the container declares all of it."""
        untold = self.length - self.delay
        if self.delay > 0 and length in (SECONDS * self.rate, untold) and length <= untold:
            self.samples = self.samples[self.delay:]
            self.length, self.delay = length, 0
        elif self.length - 4096 <= length <= self.length:
            self.length = length


def chapters(folder):
    """A metadata file with the title and the chapters for ffmpeg."""
    path = pathlib.Path(folder) / "told.ffmetadata"
    lines = [";FFMETADATA1", f"title={ALL['title'][0]}"]
    for start, end, title in CHAPTERS:
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={start}", f"END={end}", f"title={title}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def sources():
    """All variants."""
    fragments = ["-movflags", "frag_keyframe+empty_moov", "-frag_duration", "250000"]
    late, trimmed = dict(delayed=True), dict(delayed=True, trimmed=True)
    return [
        Source("wav"), Source("wav24", "pcm", "-c:a", "pcm_s24le", extension="wav"),
        Source("wav32f", "pcm", "-c:a", "pcm_f32le", extension="wav"),
        Source("wav8", "pcm", "-c:a", "pcm_u8", extension="wav", floor=30),
        # At other rates, ffmpeg's file has up to three additional samples: its muxer rounds the size up to eight bytes.
        Source("w64", rates=tuple(rate for rate in RATES if rate not in (11025, 22050))),
        Source("rf64", "pcm", "-rf64", "always", extension="wav"), Source("aiff", "pcm", "-write_id3v2", "1"),
        Source("aifc", "pcm", "-c:a", "pcm_s16le", "-f", "aiff"), Source("au"), Source("caf"),
        Source("pcm-mov", "pcm", "-c:a", "pcm_s16le", extension="mov"),
        Source("pcm-mka", "pcm", "-c:a", "pcm_s16le", extension="mka"),
        Source("pcm-avi", "pcm", "-c:a", "pcm_s16le", extension="avi"),
        Source("pcm-nut", "pcm", "-c:a", "pcm_s16le", extension="nut"),
        Source("mulaw", "mulaw", extension="wav"),
        Source("flac", "flac"), Source("flac-ogg", "flac", extension="oga"), Source("flac-mka", "flac", extension="mka"),
        Source("flac-mp4", "flac", "-strict", "-2", extension="mp4"),
        Source("flac-chained", "flac", extension="oga", chained=True),
        Source("alac", "alac", extension="m4a"), Source("alac-caf", "alac", extension="caf"),
        Source("wavpack", "wavpack", extension="wv"), Source("wavpack-mka", "wavpack", extension="mka"), Source("tta", "tta"),
        Source("truehd", "truehd", extension="thd", **late),
        Source("mp3", "mp3"), Source("mp3-vbr", "mp3", "-q:a", "2", extension="mp3", rates=MPEG, floor=10,
                                     words=["-c:a", "libmp3lame"]),
        Source("mp3-bare", "mp3", "-write_xing", "0", extension="mp3", **late),
        Source("mp3-wav", "mp3", extension="wav", **trimmed),
        Source("mp3-mka", "mp3", extension="mka", **trimmed), Source("mp3-avi", "mp3", extension="avi", **trimmed),
        Source("mp3-flv", "mp3", extension="flv", rates=(44100,), **trimmed),
        Source("mp3-mp4", "mp3", extension="mp4", **trimmed),
        Source("aac", "aac", extension="m4a"),
        Source("aac-noise", "aac", extension="m4a", words=["-c:a", "aac", "-b:a", "256k"], noisy=True),
        Source("aac-fragments", "aac", *fragments, extension="mp4", **trimmed),
        Source("aac-mka", "aac", extension="mka", **trimmed), Source("adts", "aac", extension="aac", **late),
        Source("aac-ts", "aac", extension="ts", **trimmed),
        Source("aac-flv", "aac", extension="flv", rates=(44100,), **trimmed),
        Source("opus", "opus"), Source("opus-webm", "opus", extension="webm"),
        # ffmpeg treats a delay in a timescale other than 48 kHz as that many samples, and keeps most of it.
        Source("opus-mp4", "opus", extension="mp4", **trimmed),
        Source("opus-caf", "opus", extension="caf", layouts=(1, 2), **trimmed),
        Source("opus-chained", "opus", extension="opus", chained=True),
        Source("vorbis", "vorbis", extension="ogg"), Source("vorbis-mka", "vorbis", extension="mka", **trimmed),
        Source("vorbis-chained", "vorbis", extension="ogg", chained=True),
        Source("ac3", "ac3", **late), Source("ac3-mp4", "ac3", extension="mp4", **trimmed),
        Source("ac3-mka", "ac3", extension="mka", **trimmed), Source("ac3-ts", "ac3", extension="ts", **trimmed),
        Source("eac3", "eac3", **late), Source("mp2", "mp2", **late), Source("mp2-ts", "mp2", extension="ts", **trimmed),
        Source("wma", "wma", **trimmed), Source("dts", "dts", **late),
        Source("ima4-caf", "ima4", extension="caf", **trimmed), Source("ima4-mov", "ima4", extension="mov", **trimmed),
        Source("ima-wav", "ima", extension="wav", **trimmed), Source("speex", "speex", extension="spx", **trimmed),
        Source("gsm", "gsm", **late), Source("gsm-wav", "gsm", extension="wav", words=["-c:a", "libgsm_ms"], **trimmed),
    ]
