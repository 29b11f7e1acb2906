"""Compares results of conversions with the original signal, and with the source if the conversion is lossless."""

import numpy
from mathematics import is_aligned, lag, ratio, signal

# Signal-to-error ratio in dB at the usual bit rates. Speech codecs preserve only the envelope.
FLOORS = {"mp3": 18, "aac": 15, "opus": 12, "vorbis": 15, "ac3": 15, "eac3": 15, "mp2": 15, "wma": 12, "ima4": 12}
SPEECH = ("speex", "gsm")
LOSSY_LFE = tuple(FLOORS) + SPEECH
# dB for copied packets. They decode as in the source, except for state that a decoder keeps from earlier packets.
COPIED = 55
# dB for decoders that synthesize noise.
NOISY = 18


def part(truth, cut):
    """The samples [first, end) of a source for a cut in microseconds."""
    start, end = cut
    first = -(-start * truth.rate // 10**6)
    return first, min(truth.length, truth.length if end is None else -(-end * truth.rate // 10**6))


def judge(case, output, found, truth):
    """The fault of a result, or None, and its signal-to-error ratio in dB, or None."""
    out_rate, channels = output["sample_rate"], output["channels"]
    first, end = part(truth, case.cut)
    expected = -(-(end - first) * out_rate // truth.rate)
    gapless = output["gapless"]
    total = expected + gapless["start"] + gapless["end"]
    if len(found) != total:
        return f"{len(found)} samples and not {total}", None
    body = found[gapless["start"]:gapless["start"] + expected]
    source, codec = case.source, case.codec
    # Compares only the part that contains the signal: a delayed source has priming before it and padding after it.
    begin = first / truth.rate - truth.delay / truth.rate
    wanted = signal(case.layout, out_rate, begin, expected)
    if truth.delay:
        time = begin + numpy.arange(expected) / out_rate
        inside = (time > 0.03) & (time < 0.95)
        body, wanted = body[inside], wanted[inside]
    if len(wanted) < 256:
        return None, None
    if channels != case.layout:
        # Other tests check the mix of channels. Here only its position is checked.
        body, wanted = body[:, :2].sum(axis=1, keepdims=True), mixed(wanted)
    if codec in SPEECH or source.speech:
        shift = lag(numpy.abs(body), numpy.abs(wanted), out_rate)
        if abs(shift) > out_rate // 100:
            return f"its envelope is {shift} samples off", None
    else:
        keep = [n for n in range(body.shape[1])
                if not (channels == 6 and n == 3 and (codec in LOSSY_LFE or source.lossy))]
        body, wanted = body[:, keep], wanted[:, keep]
        if channels != case.layout:
            shift = lag(body, wanted, out_rate)
            return (f"it is {shift} samples off" if shift else None), None
        decibels = ratio(wanted, body)
        floor = min(FLOORS.get(codec, 60), source.floor)
        if decibels < floor or not is_aligned(body, wanted):
            shift = lag(body, wanted, out_rate)
            return f"{decibels:.1f} dB to the signal, {floor} are the least; it is {shift} samples off", decibels
    worth = None if codec in SPEECH or source.speech else decibels
    return against_source(case, output, found[gapless["start"]:gapless["start"] + expected], truth, first, end), worth


def mixed(samples):
    """The sum of left and right after all channels are mixed into them."""
    weights = [1, 1, 2**0.5, 0, 0.5**0.5, 0.5**0.5] if samples.shape[1] == 6 else [1, 1][:samples.shape[1]]
    return samples @ numpy.array(weights)[:, None]


def against_source(case, output, body, truth, first, end):
    """The difference of a result from its source, if the conversion must be lossless; otherwise None."""
    if truth.samples is None or output["sample_rate"] != truth.rate or output["channels"] != case.layout:
        return None
    is_copy = bool(output.get("copied"))
    if not is_copy and (case.codec in LOSSY_LFE or case.source.lossy and case.codec != "f32"):
        return None
    wanted = truth.samples[first:end]
    if numpy.array_equal(wanted, body):
        return None
    if not is_copy and not case.source.noisy:
        # Floating point is dithered if the codec has at most 24 bits.
        least = 2.0**-22 if case.source.floating and case.codec in ("flac", "alac", "tta") else 0
        off = numpy.flatnonzero((abs(wanted - body) > least).any(axis=1))
        if not len(off):
            return None
        return f"{len(off)} of {len(body)} samples differ from the source, from sample {off[0]} on"
    decibels = ratio(wanted, body)
    floor = NOISY if case.source.noisy else COPIED
    return f"{decibels:.1f} dB to the source's own samples, {floor} are the least" if decibels < floor else None
