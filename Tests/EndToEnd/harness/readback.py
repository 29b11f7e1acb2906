"""The title, pictures and chapters of a source that are present in a result, according to ffprobe and mutagen."""

import re
import subprocess

import tagging

ASPECTS = ("title", "pictures", "chapters")
# The types for which mutagen reads all three; what the two tools do not read of a format; what a format cannot store.
KNOWN = ("MP3", "MP4", "FLAC", "OggVorbis", "OggOpus", "OggFLAC", "OggSpeex", "WAVE", "AIFF", "WavPack", "TrueAudio", "ASF")
UNREAD = {
    "ffprobe": {"title": (), "pictures": ("tta", "wv"), "chapters": ()},
    "mutagen": dict.fromkeys(ASPECTS, ("adts", "au", "caf", "mka", "rf64", "webm")),
}
UNREAD["mutagen"]["chapters"] += ("wma",)
UNTAGGED = ("ac3", "eac3", "gsm", "w64")
DROPPED = {"title": UNTAGGED, "pictures": (*UNTAGGED, "au", "caf", "webm"), "chapters": (*UNTAGGED, "au", "caf", "tta", "wv")}
WARNINGS = {"title": "tags_dropped", "pictures": "pictures_dropped", "chapters": "chapters_dropped"}


def summary(told, pictures):
    return {"title": (told["texts"].get("title") or [""])[0], "pictures": pictures,
            "chapters": [(each["start"], each["title"]) for each in told["chapters"]]}


def by_ffprobe(path):
    """{"title": …, "pictures": count, "chapters": [(ms, title)]}"""
    told = tagging.probe(path)
    return summary(told, len(told["pictures"]))


def listed(paths):
    """The same for many files, from the list of inputs that one ffmpeg prints."""
    words = [word for path in paths for word in ("-i", path)]
    text = subprocess.run(["ffmpeg", "-hide_banner", "-nostdin", *words], capture_output=True).stderr.decode(errors="replace")
    parts = re.split(r"(?m)^Input #\d+, ", text)[1:]
    if len(parts) != len(paths):
        return [by_ffprobe(path) for path in paths]
    return [listing(part) for part in parts]


def listing(text):
    head, *streams = re.split(r"(?m)^  Stream #", text)
    titles = re.findall(r"(?mi)^    title +: (.*)$", head.split("  Chapters:")[0])
    titles += [title for stream in streams if "Audio: " in stream for title in re.findall(r"(?mi)^ +title +: (.*)$", stream)]
    chapters = re.findall(r"Chapter #\d+:\d+: start ([\d.]+), end [\d.]+\n(?: +Metadata:\n +(?:title|TITLE) +: (.*))?", head)
    return {"title": (titles or [""])[0], "pictures": text.count("(attached pic)"),
            "chapters": [(round(float(start) * 1000), title) for start, title in chapters]}


def by_mutagen(path):
    """The same, with pictures by their digests; None if mutagen does not support the file."""
    try:
        file = tagging.File(path)
        if file is None or type(file).__name__ not in KNOWN:
            return None
        told = tagging.read(path)
    except Exception:
        return None
    return summary(told, sorted(each["digest"] for each in told["pictures"]))


def told(path):
    """The aspects of a file, as read by each tool."""
    return {"ffprobe": by_ffprobe(path), "mutagen": by_mutagen(path)}


def is_same(one, other):
    """Whether two findings agree; ffprobe only reports the number of pictures."""
    if type(one) is not type(other):
        one, other = (value if isinstance(value, int) else len(value) for value in (one, other))
    return one == other


def kept(format, origin, output, listing=None):
    """{aspect: the tools that find it in a result}, and the missing aspects or warnings, if any."""
    result = {"ffprobe": listing or by_ffprobe(output["path"]), "mutagen": by_mutagen(output["path"])}
    codes = {warning["code"] for warning in output["warnings"]}
    found, missing = {}, []
    for aspect in ASPECTS:
        given = [value[aspect] for value in origin.values() if value and value[aspect]]
        if not given:
            continue
        finders = [tool for tool, value in result.items()
                   if value and value[aspect] and any(is_same(value[aspect], each) for each in given)]
        found[aspect] = "both" if len(finders) == 2 else finders[0] if finders else "dropped"
        if finders or format not in DROPPED[aspect]:
            missing += [f"{tool} does not find the {aspect} of the source: {value and value[aspect]!r}"
                        for tool, value in result.items() if tool not in finders and format not in UNREAD[tool][aspect]]
        elif WARNINGS[aspect] not in codes:
            missing.append(f"no warning tells that the {aspect} are dropped")
    return found, "; ".join(missing) or None
