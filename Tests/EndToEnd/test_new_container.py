"""A container that says nothing of its tags is refused by the compiler, and one that says it all is read.

In a copy of the tree a new container takes WAV over. It is described as WAV is, first without the field of tags.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from service import PROGRAMS, ROOT, check, equal, run
from sound import decode, same

CONTAINERS = "Sources/Containers"
TITLE = "Tune"


def copied(folder):
    """The tree's files that git knows, and nothing that was built."""
    for name in run("git", "-C", ROOT, "ls-files", "-z").decode().split("\0"):
        if name and os.path.isfile(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def edit(path, before, after):
    text = path.read_text()
    check(text.count(before) == 1, f"{path.name} holds {before!r} {text.count(before)} times")
    path.write_text(text.replace(before, after))


def swift_build(tree, *words, statuses=(0,)):
    # What the release build was told by a Makefile or a job server is no concern of this one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["swift", "build", "--package-path", str(tree), *words], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=2400)
    told = done.stdout.decode(errors="replace")
    check(done.returncode in statuses, f"swift build {' '.join(words)} ended with {done.returncode}: {told[-1500:]}")
    return told


@pytest.mark.release
def test_a_container_that_says_nothing_of_tags_does_not_compile(service, audio, figures):
    folder = pathlib.Path(service.folder)
    tree = copied(folder / "tree")
    edit(tree / CONTAINERS / "Container.swift", "wave, wave64", "wave, wave64, newcomer")
    edit(tree / CONTAINERS / "Container+demuxers.swift", 'case .wave: ["wav"]', 'case .wave: []\n        case .newcomer: ["wav"]')
    table = tree / CONTAINERS / "Container+descriptor.swift"
    row = re.search(r"        case \.wave:\n(.*?)(?=        case )", table.read_text(), re.DOTALL)[0]
    whole = row.replace("case .wave:", "case .newcomer:")
    silent = re.sub(r"tags: \.\w+, ", "", whole)
    edit(table, row, row + silent)

    told = swift_build(tree, "--target", "Containers", statuses=(1,))
    check("missing argument for parameter 'tags'" in told, f"the compiler says {told[-1500:]}")
    errors = {line.split("error: ")[1] for line in told.splitlines() if "error: " in line and ".swift:" in line}
    equal(len(errors), 1, f"errors {errors}")

    edit(table, silent, whole)
    swift_build(tree, "--product", "respool-transcode")

    # The other programs are those that are tested.
    programs = folder / "programs"
    programs.mkdir()
    for name in ("respool", "respoold", "respool-transfer"):
        shutil.copy(PROGRAMS / name, programs)
    shutil.copy(tree / ".build/debug/respool-transcode", programs)
    sound = audio("a.wav", 3)
    titled, flac = folder / "titled.wav", folder / "a.flac"
    run("ffmpeg", "-v", "error", "-i", f"{service.sources}/a.wav", "-c", "copy", "-metadata", f"title={TITLE}", titled)
    run(programs / "respool", "convert", titled, flac, environment=service.environment)
    same(decode(flac), sound, "the converted file")
    title = run("ffprobe", "-v", "error", "-show_entries", "format_tags=title", "-of", "default=nk=1:nw=1", flac)
    equal(title.decode().strip(), TITLE, "title")
    figures(f"refused with “{errors.pop()}”; completed, it was converted")
