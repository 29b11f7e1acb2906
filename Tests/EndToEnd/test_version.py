"""Each place that repeats the version has that of Version.swift, in the spelling of its ecosystem."""

import itertools
import re
import shutil
import subprocess

import pytest
from packaging.version import parse
from service import ROOT, check, equal, run

# Later than any version of respool, so that the sections of CHANGELOG.md are new.
ORDER = ["90.1.0-dev", "90.1.0", "90.2.0-dev", "90.2.0", "90.10.0-dev", "90.10.0"]


@pytest.fixture
def copy(tmp_path):
    """A repository with the files of this one; calling it runs Tools/version there."""
    for name in run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0"):
        if name and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    run("git", "init", "-q", tmp_path)
    run("git", "-C", tmp_path, "add", "--all")

    def version(*words):
        return subprocess.run([tmp_path / "Tools/version", *words], capture_output=True, text=True)

    version.folder = tmp_path
    return version


@pytest.mark.release
def test_the_version_is_changed_in_all_places_at_once_and_a_difference_is_an_error(copy, figures):
    changed = set()
    for version in ORDER:
        done = copy("set", version)
        equal((done.returncode, done.stderr), (0, ""), f"`Tools/version set {version}`")
        equal(copy().stdout, f"{version}\n", "the version")
        equal(copy("check").returncode, 0, f"`Tools/version check` of {version}")
        heading = re.search(r"(?m)^## .*", (copy.folder / "CHANGELOG.md").read_text())[0]
        pattern = r"## 90\.\d+\.0, unreleased" if version.endswith("-dev") else r"## 90\.\d+\.0, \d{4}-\d\d-\d\d"
        check(re.fullmatch(pattern, heading), f"the heading of {version} is '{heading}'")
        changed |= set(run("git", "-C", copy.folder, "diff", "--name-only").decode().split())
    places = sorted(changed - {"CHANGELOG.md"})
    for name in places:
        path = copy.folder / name
        text = path.read_text()
        path.write_text(text.replace("90.10.0", "90.9.0", 1))
        done = copy("check")
        check(done.returncode != 0, f"another version in {name} is no error")
        if "Version.swift" not in name:
            check(done.stderr.startswith(f"{name} states 90.9.0, not 90.10.0"), f"for {name}: {done.stderr}")
        path.write_text(text)
    script = copy.folder / "deploy/make-package"
    script.write_text(script.read_text() + "# 90.10.0\n")
    equal(copy("check").stderr, "deploy/make-package repeats the version, and is no place of Tools/version\n", "a place that is not known")
    figures(f"{len(places)} places")


@pytest.mark.release
def test_versions_sort_by_their_age_for_debian_and_python(copy):
    spelled = {}
    for version in ORDER:
        copy("set", version)
        spelled[version] = (copy("--debian").stdout.strip(), copy("--python").stdout.strip())
    equal(spelled["90.2.0-dev"], ("90.2.0~dev", "90.2.0.dev0"), "spellings of 90.2.0-dev")
    for earlier, later in itertools.pairwise(ORDER):
        run("dpkg", "--compare-versions", spelled[earlier][0], "lt", spelled[later][0])
        check(parse(spelled[earlier][1]) < parse(spelled[later][1]), f"{spelled[later]} is not after {spelled[earlier]} for Python")
