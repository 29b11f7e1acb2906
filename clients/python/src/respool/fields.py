"""The fields of a job; written by Tools/client-fields."""

from typing import Any, Mapping, Sequence, TypedDict, Union

Scalar = Union[str, float, bool, None]
Structured = Union[str, Mapping[str, Any], Sequence[Any], None]


class Required(TypedDict):
    """What each job needs."""

    source: str
    """where the audio is: https://, http://, s3://bucket/key, file:/// under an allowed root, or ftp://, ftps://,
    sftp:// if the operator allows it"""


class JobFields(Required, total=False):
    """The fields of a job, which docs/jobs.md explains; `None` leaves one out."""

    application: Scalar
    """for opus: audio, voip (speech) or lowdelay; default: audio"""
    atomic: Scalar
    """with outputs: publishes all of them or none; default: false"""
    attempts: Scalar
    """number of attempts, 1 to 100; default: 5"""
    bit_rate: Scalar
    """constant or average bit rate in bit/s: 192k or 192000; default: by codec"""
    bit_rate_mode: Scalar
    """cbr, abr or vbr, of those that the codec supports; default: by codec"""
    bit_rates: Scalar
    """for hls: bit rates of the variants: 64k,128k,256k; default: one variant"""
    bits: Scalar
    """for peaks: 8 or 16; default: 16"""
    callback: Scalar
    """gets a signed POST when the job ends; default: none"""
    channel_layout: Scalar
    """mono, stereo, 5.1, 7.1 and others; default: the source's, or the codec's"""
    channel_map: Scalar
    """the source's channels to keep, in output order: R,L or 2,1 or FC; default: as they are"""
    channels: Scalar
    """1 to 64; default: the source's, or the nearest that the codec supports"""
    chapters: Scalar
    """json or webvtt: also writes chapters to a file beside the result; default: none"""
    codec: Scalar
    """overrides the format's usual codec; default: by format"""
    colors: Scalar
    """for png: foreground and background, #rrggbb or #rrggbbaa; default: #3366cc,#ffffff"""
    compression_level: Scalar
    """the encoder's effort: ffmpeg's -compression_level; default: the encoder's"""
    damage: Scalar
    """fail on a damaged or truncated source, or accept what can be decoded; default: fail"""
    deadline: Scalar
    """fails, even while running, if not finished by then: ISO 8601, or seconds from admission; default: never"""
    dedup: Scalar
    """while a job with this key is unfinished, a push with the same key returns that job; default: none"""
    delay: Scalar
    """wait before the first attempt, counted from admission; default: 0"""
    dither: Scalar
    """for samples that lose bits: none, rectangular, triangular or shaped; default: triangular"""
    drc: Scalar
    """share of the dynamic range compression of AC-3 and E-AC-3 to apply: 0 (none) to 1 (all); default: 1"""
    duration: Union[str, float, None]
    """length of the range, instead of end; default: to the source's end"""
    dynamic_range: Scalar
    """for spectrogram: range below full scale in dB, 10 to 200; default: 100"""
    end: Union[str, float, None]
    """end of the range (exclusive); default: the source's end"""
    expires: Scalar
    """expires if not started by then: ISO 8601, or seconds from admission; default: never"""
    fade_in: Scalar
    """length of a fade at the start; default: 0"""
    fade_out: Scalar
    """length of a fade at the end; default: 0"""
    format: str
    """the container, or a common pair of container and codec: see `respool formats`"""
    frame_duration: Scalar
    """for opus: length of a packet in ms: 2.5 5 10 20 40 60 80 100 120; default: 20"""
    gain: Scalar
    """change of level in dB: -3 or 6; default: 0"""
    group: Scalar
    """name under which jobs are watched, listed, cancelled and retried together; default: none"""
    high_pass: Scalar
    """removes sound below a frequency in Hz, by 12 dB an octave: 80; default: off"""
    limit_key: Scalar
    """key of a concurrency limit, such as a host or a tenant; see `respool limit`; default: none"""
    loudness: Scalar
    """integrated loudness of the result in LUFS (EBU R 128): -16; default: off"""
    low_pass: Scalar
    """removes sound above a frequency in Hz, by 12 dB an octave: 8000; default: off"""
    metadata: Structured
    """tags to set: {"title": "…", "artist": ["…", "…"]}; "" removes one; default: carried over"""
    mix: Scalar
    """mix matrix, one expression per output channel: FL=FL+0.707FC,FR=FR+0.707FC; default: by layout"""
    not_before: Scalar
    """starts no earlier than an ISO 8601 instant: 2030-01-31T12:00:00Z; default: now"""
    output: Scalar
    """where the result goes: a path under the output root, s3://bucket/key, a URL for a PUT, or ftp://, ftps://,
    sftp:// if the operator allows it; {stem}.{ext} and other templates are expanded; default: <job id>.<extension>"""
    output_credentials: Scalar
    """for an output that is a URL: name of the operator's credentials to use; default: none"""
    output_headers: Structured
    """for an output that is a URL: {"x-ms-blob-type": "BlockBlob"}; default: the content-type"""
    output_method: Scalar
    """for an output that is a URL: PUT or POST; default: PUT"""
    outputs: Structured
    """several results from one decode: a list of objects, each with its own fields; default: one result"""
    overwrite: Scalar
    """if the output exists: replace it, skip this output with a warning, or fail; default: replace"""
    passthrough: Scalar
    """auto copies packets that need no encoding, never always encodes, require fails if a copy is not possible;
    default: auto"""
    peaks_format: Scalar
    """for peaks: json or dat, the formats of audiowaveform; default: by the output's name, else json"""
    pixels_per_second: Scalar
    """for peaks: points per second, instead of zoom; default: by zoom"""
    points: Scalar
    """for peaks: at most this many points for the whole result, 1 to 4000, instead of zoom; default: by zoom"""
    priority: Scalar
    """high, normal or low; a higher priority always goes first; default: normal"""
    quality: Scalar
    """a value on the codec's VBR scale; default: by codec"""
    replay_gain: Scalar
    """track writes ReplayGain tags; default: off"""
    resampler: Scalar
    """swr, or soxr, which has the steepest filter; default: swr"""
    sample_format: Scalar
    """u8 s8 s16 s24 s32 f32 f64; for PCM also with le or be; default: the source's"""
    sample_rate: Scalar
    """sample rate in Hz: 44100; default: the source's, or the nearest that the codec supports"""
    segment_duration: Scalar
    """for hls: the length of a segment, 1 to 60 s; default: 10"""
    segment_format: Scalar
    """for hls: fmp4 or mpegts; default: fmp4"""
    size: Scalar
    """for png up to 10000x4000, for spectrogram up to 4000x2000 pixels; default: 1800x280, or 1024x512"""
    source_credentials: Scalar
    """for a source that is a URL: name of the operator's credentials to use; default: none"""
    source_headers: Structured
    """for a source that is a URL: {"referer": "https://example.org/"}; default: none"""
    split_channels: Scalar
    """for peaks, png and spectrogram: true draws each channel separately, false draws their mean; default: true for
    png, else false"""
    start: Union[str, float, None]
    """start of the range: 5:00, 1:02:03.5, 300, 13230000/44100; default: 0"""
    tag_encoding: Scalar
    """actual character set of tags declared as Latin-1: cp1251, gbk, shift_jis; default: as declared"""
    tempo: Scalar
    """speed without a change of pitch, 0.5 to 4: 1.25; default: 1"""
    threads: Scalar
    """how many threads encode: auto, or 1 to 64; with a number, the result has the same bytes each time, and all
    numbers above 1 give the same; default: auto: the free cores"""
    timeout: Scalar
    """run time of one attempt; default: 3600"""
    traceparent: Scalar
    """the trace that the job belongs to (W3C Trace Context); default: none"""
    track: Scalar
    """which audio track: a number from 1, or a language such as jpn, ger or de; all keeps every track in one file;
    default: the one that players choose"""
    trim_silence: Scalar
    """removes silence from both ends, below a level in dB: -60; or -60,0.5 to keep silence shorter than 0.5 s; default:
    off"""
    true_peak: Scalar
    """the limiter's ceiling, or off; default: -1 with loudness or a gain above 0, else off"""
    zoom: Scalar
    """for peaks: samples per point; default: 256"""
