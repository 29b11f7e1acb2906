"""Writes the section of docs/performance.md about one file on all cores, and its chart, from the figures of Benchmarks/parallel."""

import re
import subprocess
import time

HEADING = "## One file on all cores"
CHART = "images/one-file.svg"
# The numbers of cores that are simulated; the first one is also measured.
CORES = 2, 8, 32
COLORS = {"1": "#8a94a6", "2": "#2f6fb3", "8 cores": "#7fb2e5", "32 cores": "#bcd9f5"}
NAMES = {"1": "1 thread, measured", "2": "2 threads, measured", "8 cores": "8 cores, simulated", "32 cores": "32 cores, simulated"}


def draw(rows, title):
    """The chart: a group of bars for each codec, time relative to ffmpeg's."""
    left, top, bar, gap, width = 84, 64, 13, 16, 560
    most = max(1, *(row["× 1"] for row in rows)) * 1.05
    group = len(COLORS) * bar + gap
    bottom = top + len(rows) * group
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 76} {bottom + 34}" role="img" aria-label="{title}">',
        f'<rect width="{left + width + 76}" height="{bottom + 34}" rx="8" fill="#ffffff"/>',
        '<g font-family="system-ui,Segoe UI,Helvetica,Arial,sans-serif" font-size="12" fill="#20242c">',
        f'<text x="16" y="24" font-size="14" font-weight="bold">{title}</text>',
    ]
    for index, (key, color) in enumerate(COLORS.items()):
        parts += [f'<rect x="{left + index * 150}" y="38" width="11" height="11" fill="{color}"/>',
                  f'<text x="{left + index * 150 + 16}" y="48">{NAMES[key]}</text>']
    for number, row in enumerate(rows):
        y = top + number * group
        parts.append(f'<text x="{left - 10}" y="{y + 2 * bar + 4}" text-anchor="end" font-weight="bold">{row["codec"]}</text>')
        for index, (key, color) in enumerate(COLORS.items()):
            ratio = relative(row, key)
            parts += [f'<rect x="{left}" y="{y + index * bar}" width="{ratio / most * width:.1f}" height="{bar - 2}" fill="{color}"/>',
                      f'<text x="{left + ratio / most * width + 5:.1f}" y="{y + index * bar + 10}" font-size="11">{ratio:.2f}</text>']
    x = left + width / most
    parts += [f'<line x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" y2="{bottom - 6}" stroke="#c0392b" stroke-dasharray="4 3"/>',
              f'<text x="{x:.1f}" y="{bottom + 12}" text-anchor="middle" fill="#c0392b">ffmpeg = 1</text>', "</g>", "</svg>", ""]
    return "\n".join(parts)


def relative(row, key):
    """The time relative to ffmpeg's."""
    return row[f"× {key}"] if key in ("1", "2") else row[key] / row["ffmpeg"]


def table(columns, rows):
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *(f"| {' | '.join(row)} |" for row in rows)])


def section(run):
    """The text: all figures are those of the run."""
    music = [row for row in run["rows"] if row["source"] == "wav"]
    others = [row for row in run["rows"] if row["source"] == "flac"]
    version = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout.split()[2].split("-")[0]

    def counts(row):
        return ", ".join(str(count) for count in row["counts"].values()) or "–"

    def measured(row, *ends):
        sides = ("ffmpeg", "1", "2", "auto")
        return [row["codec"], *(f"{row[side]:.2f} s" for side in sides), *(f"{row['× ' + side]:.2f}" for side in sides[1:]),
                *(f"{row[end]:.2f}" for end in ends), counts(row)]

    columns = ["codec", "ffmpeg", "1 thread", "2 threads", "`auto`", "1 ÷ ffmpeg", "2 ÷ ffmpeg", "`auto` ÷ ffmpeg"]
    return f"""{HEADING}

![Time of one file relative to ffmpeg's]({CHART})

`Benchmarks/parallel --write` writes this section and the chart. They are of {time.strftime('%-d %B %Y', time.gmtime(run['date']))}, from a virtual machine with {run['cores']} cores ({run['processor']}) and FFmpeg {version}:
{run['seconds']} s of music from Debian's supertux-data, stereo at 44.1 kHz, {run['rounds']} rounds in turns. Each figure is the median of the rounds. Times relative to ffmpeg's are medians of the
ratios of a round. respool starts its processes, checks the result, hashes it and syncs it to the disk; ffmpeg does none of that, and has its own
default of threads. MP3 and AAC have 128 kb/s, Opus 96 kb/s, Vorbis quality 5.

From WAV. CPU is the CPU time with 2 threads, divided by that with 1 thread alone on the machine, and by that of one of two conversions at the same time, because two
busy cores slow each other down.

{table([*columns, "CPU ÷ alone", "CPU ÷ one of two", "segments, joints, fallbacks"], [measured(row, "CPU", "busy CPU") for row in music])}

From FLAC, encoded anew:

{table([*columns, "CPU ÷ alone", "segments, joints, fallbacks"], [measured(row, "CPU") for row in others])}

With more cores the schedule is simulated: decoding, joining and writing are one stream on one thread, as many threads as cores encode a segment each with its overlaps, one
segment more is decoded before a thread is free for it, and packets are joined in order. CPU times of both kinds of threads are those of the conversion with 2 threads; the remaining time, in which
processes start and the result is synced, is that of the conversion with 1 thread. Real cores share their memory and become slower together, which the simulation ignores. From WAV:

{table(["codec", "decoding, joining, writing", "encoding", "remaining", "2 cores", "measured with 2", "8 cores", "32 cores", "8 ÷ ffmpeg", "32 ÷ ffmpeg"],
       [[row["codec"], f"{row['decode']:.2f} s", f"{row['encode']:.2f} s", f"{row['rest']:.2f} s", f"{row['2 cores']:.2f} s", f"{row['2']:.2f} s",
         f"{row['8 cores']:.2f} s", f"{row['32 cores']:.2f} s", f"{relative(row, '8 cores'):.2f}", f"{relative(row, '32 cores'):.2f}"] for row in music])}

[One file on several cores](parallel.md) explains how it works.

"""


def write_page(root, run):
    """Replaces the section, or inserts it before the first one, and writes the chart."""
    page = root / "docs/performance.md"
    text = page.read_text()
    text = re.sub(rf"^{HEADING}\n.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    place = text.index("\n## ") + 1
    page.write_text(text[:place] + section(run) + text[place:])
    music = [row for row in run["rows"] if row["source"] == "wav"]
    title = f"Time of one file ({run['seconds']} s of music, from WAV) relative to ffmpeg's"
    (root / "docs" / CHART).write_text(draw(music, title))
