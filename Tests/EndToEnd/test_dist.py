"""`make dist` makes the same bytes of the same commit, whoever makes them, where, and when."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import zipfile

import pytest
from service import PROGRAMS, ROOT, check, equal, run
from test_clients import INTERPRETERS, needs

COMMITTED = "2026-01-02T03:04:05+00:00"


def sources():
    """The names of the files of this repository, also of those that are not committed yet."""
    names = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


def repository(folder):
    """A repository with the files of this one, in one commit of a fixed time."""
    for name in sources():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    dates = {"GIT_AUTHOR_DATE": COMMITTED, "GIT_COMMITTER_DATE": COMMITTED, "GIT_CONFIG_GLOBAL": "/dev/null"}
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "All"]):
        run("git", "-C", folder, *words, environment={**os.environ, **dates, **names})
    (folder / ".build").mkdir()
    (folder / ".build/python").symlink_to(ROOT / ".build/python")
    return folder


def dist(folder, *parts, umask, **environment):
    """Makes parts of a release, and returns what was made: {name: path}."""
    done = subprocess.run([folder / "Tools/make-dist", *parts], capture_output=True, text=True, umask=umask, cwd="/",
                          env={**os.environ, "PROGRAMS": str(PROGRAMS), **environment})
    check(done.returncode == 0, f"Tools/make-dist ended with {done.returncode}:\n{done.stderr[-3000:]}")
    version = run(folder / "Tools/version").decode().strip()
    output = folder / ".build/dist" / version
    run("sh", "-c", f"cd {output} && sha256sum --check --quiet --strict SHA256SUMS")
    return version, {str(path.relative_to(output)): path for path in sorted(output.rglob("*")) if path.is_file()}


def check_same(tmp_path, *parts):
    """Makes parts twice, in folders, time zones, locales and with masks that differ, and compares the bytes."""
    first, second = repository(tmp_path / "a"), repository(tmp_path / "a-longer-name/b")
    made = []
    for folder, umask, settings in ((first, 0o022, {"TZ": "UTC", "LC_ALL": "C"}),
                                    (second, 0o077, {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)})):
        version, files = dist(folder, *parts, umask=umask, **settings)
        made.append({name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()})
    equal(made[1], made[0], "files and sums of the second run")
    return version, files


@pytest.mark.release
def test_two_runs_give_equal_sources_and_clients_that_can_be_installed(tmp_path, figures):
    needs(INTERPRETERS["newest"], "-c", "import setuptools")
    version, files = check_same(tmp_path, "source", "clients")
    python = run(ROOT / "Tools/version", "--python").decode().strip()
    equal(sorted(files), sorted([f"respool-{version}.tar.gz", "SHA256SUMS", f"node/respool-{version}.tgz", f"python/respool-{python}.tar.gz",
                                 f"python/respool-{python}-py3-none-any.whl"]), "files")
    with tarfile.open(files[f"respool-{version}.tar.gz"]) as tar:
        names = {member.name.removeprefix(f"respool-{version}/") for member in tar if member.isfile()}
        equal({member.uid for member in tar} | {member.gid for member in tar}, {0}, "owners in the archive of the sources")
        equal(names, sources(), "files of the sources")
    for archive in (f"python/respool-{python}.tar.gz", f"node/respool-{version}.tgz"):
        with tarfile.open(files[archive]) as tar:
            check(any(name.endswith("/LICENSE") for name in tar.getnames()), f"{archive} has no licence")
    check(any("LICENSE" in name for name in zipfile.ZipFile(files[f"python/respool-{python}-py3-none-any.whl"]).namelist()),
          "the wheel has no licence")
    for archive in (f"python/respool-{python}.tar.gz", f"python/respool-{python}-py3-none-any.whl"):
        site = tmp_path / archive.rpartition(".")[2]
        run(INTERPRETERS["newest"], "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", site, files[archive])
        found = run("/usr/bin/python3", "-B", "-c", "import importlib.metadata, respool; respool.Client; print(importlib.metadata.version('respool'))",
                    environment={**os.environ, "PYTHONPATH": str(site)}).decode().strip()
        equal(found, python, f"version that is installed of {archive}")
    needs("node", "--version")
    modules = tmp_path / "node_modules/respool"
    modules.mkdir(parents=True)
    run("tar", "-x", "--strip-components", "1", "-C", modules, "-f", files[f"node/respool-{version}.tgz"])
    (tmp_path / "import.mjs").write_text("import { Client } from 'respool';\nconsole.log(typeof Client);\n")
    equal(run("node", tmp_path / "import.mjs"), b"function\n", "what Node.js imports")
    figures(f"{version}: " + ", ".join(f"{name} {path.stat().st_size:,} bytes" for name, path in files.items()))


@pytest.mark.container
def test_two_runs_give_equal_packages(tmp_path, figures):
    needs("dpkg-query", "--show", "debhelper")
    needs("lintian", "--version")
    version, files = check_same(tmp_path, "deb")
    package, = (path for name, path in files.items() if name.endswith(".deb"))
    folder = tmp_path / "package"
    run("dpkg-deb", "--extract", package, folder)
    equal(run(folder / "usr/bin/respool", "--version").decode(), f"respool {version}\n", "what the command prints")
    programs = [folder / "usr/bin/respool", *sorted((folder / "usr/libexec/respool").iterdir())]
    equal(len(programs), 4, "programs of the package")
    for path in programs:
        sections = run("readelf", "--section-headers", "--wide", path).decode()
        check(".note.gnu.build-id" not in sections and ".swift_modhash" not in sections,
              f"{path.name} has sections that depend on the folder of its build")
    figures(f"{package.name}: {package.stat().st_size:,} bytes")


@pytest.mark.release
def test_changes_that_are_not_committed_are_refused(tmp_path):
    folder = repository(tmp_path / "a")
    with open(folder / "README.md", "a") as file:
        file.write("More.\n")
    done = subprocess.run([folder / "Tools/make-dist", "source"], capture_output=True, text=True)
    equal((done.returncode, done.stderr.split(",")[0]), (1, "some files differ from the last commit"), "of a changed file")
    check(not pathlib.Path(folder / ".build/dist").exists(), "something was made of it")


@pytest.mark.release
def test_without_podman_and_docker_the_rest_is_made_and_the_status_is_an_error(tmp_path):
    folder = repository(tmp_path / "a")
    (tmp_path / "bin").mkdir()
    for program in ("git", "python3", "tar"):
        (tmp_path / "bin" / program).symlink_to(f"/usr/bin/{program}")
    done = subprocess.run([folder / "Tools/make-dist", "source", "image"], capture_output=True, text=True,
                          env={**os.environ, "PATH": str(tmp_path / "bin")})
    equal((done.returncode, done.stderr), (1, "the image needs podman or docker: `make dist IMAGE=no` makes all else\n"), "without an engine")
    made = sorted(path.name for path in (folder / ".build/dist").rglob("*") if path.is_file())
    equal([name for name in made if "respool-" not in name], ["SHA256SUMS"], "files beside the archive")
    equal(len(made), 2, "files")
