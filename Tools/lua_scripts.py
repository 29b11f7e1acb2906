#!/usr/bin/env -S python3 -B
"""Assembles the Lua scripts that are sent to Redis: `write FOLDER` writes each to a file, `lint` checks each.

A line `-- require NAME` is replaced by the text of NAME.lua the first time, and removed afterwards. The fragments of RENDERED have no
file: Swift renders them, and `luacheckrc` has their names. The text of
meta.lua comes first, the script itself is wrapped in a function, and that of failed.lua follows.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "Sources/Jobs/Scripts"
REQUIRE = re.compile(r"-- require (\w+)\n")
TEXTS = {path.stem: path.read_text().splitlines(keepends=True) for path in sorted(FOLDER.glob("*.lua"))}
FRAGMENTS = {"meta", "failed"} | {match[1] for text in TEXTS.values() for match in map(REQUIRE.fullmatch, text) if match}
RENDERED = {"constants", "defaults"}
SCRIPTS = sorted(TEXTS.keys() - FRAGMENTS)


def inserted(name, done):
    """The lines of a file and of its requirements, each with the name and the line number of its file."""
    done.add(name)
    for number, line in enumerate(TEXTS[name], 1):
        required = REQUIRE.fullmatch(line)
        if not required:
            yield line, name, number
        elif required[1] not in done | RENDERED:
            yield from inserted(required[1], done)


def lines(script):
    done = set()
    yield from inserted("meta", done)
    yield "local is_whole, answer = pcall(function()\n", script, 0
    yield from inserted(script, done)
    yield "end)\n", script, 0
    yield from inserted("failed", done)


def joined(script):
    return "".join(line for line, _, _ in lines(script))


def write(folder):
    for script in SCRIPTS:
        (folder / f"{script}.lua").write_text(joined(script))


def heads():
    """Reports the parts that are missing in the head comments of the scripts."""
    for script in SCRIPTS:
        head = "".join(TEXTS[script][:TEXTS[script].index("\n")])
        for word in ("KEYS", "ARGV", "Answers"):
            if not re.search(rf"^-- {word}", head, re.M):
                yield f"{script}.lua:1: the head does not say its {word}"


def warnings(folder):
    """The reports of luacheck for each assembled script, with their positions in the source files.

    A local of a fragment may be unused in some scripts, but not in all scripts that include the fragment.
    """
    reports, unused, holders = set(), {}, {}
    for script in SCRIPTS:
        places = [(name, number) for _, name, number in lines(script)]
        for name in {name for name, _ in places}:
            holders[name] = holders.get(name, 0) + 1
        printed = subprocess.run(
            ["luacheck", "--config", pathlib.Path(__file__).with_name("luacheckrc"), "--formatter", "plain", "--codes", "--no-color",
             folder / f"{script}.lua"], stdout=subprocess.PIPE, text=True).stdout
        for found in re.finditer(r"^[^:\n]*:(\d+):\d+: (\((\w+)\) .*)$", printed, re.M):
            name, number = places[int(found[1]) - 1]
            report = f"{name}.lua:{number}: {found[2]}"
            if name in FRAGMENTS and found[3] in ("W211", "W231"):
                unused[report] = unused.get(report, set()) | {script}
            else:
                reports.add(report)
    return sorted(reports | {report for report, scripts in unused.items() if len(scripts) == holders[report.split(".")[0]]})


def lint():
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder))
        # This also checks Lua's limits: 200 locals and 60 upvalues per function.
        compiled = subprocess.run(["luac5.1", "-p", *(f"{folder}/{script}.lua" for script in SCRIPTS)])
        found = [*heads(), *warnings(pathlib.Path(folder))] if compiled.returncode == 0 else []
    for line in found:
        print(f"Sources/Jobs/Scripts/{line}", file=sys.stderr)
    return compiled.returncode != 0 or found != []


def main():
    match sys.argv[1:]:
        case ["lint"]:
            return lint()
        case ["write", folder]:
            write(pathlib.Path(folder))
        case _:
            return __doc__


if __name__ == "__main__":
    sys.exit(main())
