"""The clients of clients/: their own tests, on packages that are installed as users install them, and their examples."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from processes import Failed, free_port
from service import PROGRAMS, ROOT, check, equal
from test_serve import start_server

PYTHON = ROOT / "clients/python"
NODE = ROOT / "clients/node"
# Debian's Python and redis-py; the newest redis-py, mypy and pytest, which deploy/install-python has installed.
INTERPRETERS = {"debian": "/usr/bin/python3", "newest": str(ROOT / ".build/python/bin/python3")}


def run(*words, seconds=300, **environment):
    try:
        done = subprocess.run(
            [str(word) for word in words], env={**os.environ, "PROGRAMS": str(PROGRAMS), **environment}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"`{' '.join(map(str, words))}` did not end within {seconds} s:\n{(late.stdout or b'').decode(errors='replace')[-6000:]}") from None
    check(done.returncode == 0, f"`{' '.join(map(str, words))}` ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def needs(*words):
    """Skips the test where a program or a package is not installed."""
    if not shutil.which(words[0]) or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip(f"`{' '.join(words)}` fails: `make proof` installs what it needs")


@pytest.fixture
def server(service, start_worker, audio):
    """The address of a server with tokens, beside a worker."""
    tokens = pathlib.Path(service.folder) / "tokens"
    tokens.write_text("".join(
        f"{role} {role} {hashlib.sha256(f'{role}-secret'.encode()).hexdigest()}\n" for role in ("read", "push", "operate")))
    port = free_port()
    start_server(service, port, f"{service.folder}/serve.log", "--tokens", str(tokens))
    audio("a.wav", 3)
    start_worker(slots=2)
    return f"http://127.0.0.1:{port}"


@pytest.mark.long
@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_the_python_client_passes_its_tests_when_it_is_installed(tmp_path, figures, interpreter):
    builder, python = INTERPRETERS["newest"], INTERPRETERS[interpreter]
    needs(builder, "-c", "import setuptools")
    needs(python, "-c", "import pytest, redis")
    # A build writes into its folder.
    shutil.copytree(PYTHON, tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    run(builder, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", tmp_path / "site", tmp_path / "python")
    check((tmp_path / "site/respool/py.typed").exists(), "the package has no py.typed")
    # If a test hangs, the stacks of its threads say where.
    printed = run(python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-v", "-o", "faulthandler_timeout=300", PYTHON / "tests",
                  seconds=900, PYTHONPATH=str(tmp_path / "site"))
    version = run(python, "-c", "import redis; print(redis.__version__)").strip()
    packaged = run("dpkg-query", "--show", "--showformat", "${Version}", "python3-redis")
    check(packaged.startswith(f"{version}-") == (interpreter == "debian"), f"redis-py is {version}, and that of Debian {packaged}")
    figures(f"redis-py {version}: {printed.splitlines()[-1]}")


@pytest.mark.long
def test_the_node_client_passes_its_tests(service, server, figures):
    needs("node", "--version")
    printed = run("node", "--test", NODE / "test", RESPOOL_TEST_URL=server, RESPOOL_TEST_SOURCE=service.source("a.wav"))
    figures(f"Node.js {run('node', '--version').strip()}: {re.search(r'pass [0-9]+', printed)[0]}")


@pytest.mark.long
def test_the_types_of_the_node_client_find_what_is_wrong(tmp_path):
    needs("tsc", "--version")
    link(tmp_path)
    right = """
        import { Client, JobFailed, type Job, type JobFields } from 'respool';
        const client = new Client('http://127.0.0.1:8080', { token: 't' });
        const fields: JobFields = { source: 's', format: 'mp3', end: 60, metadata: { title: ['a'] } };
        const job: Job = await client.wait(await client.push(fields), { timeout: 1000 });
        for await (const change of client.events({ after: '1-1' })) if (!change.gap) console.log(change.n, job.outputs[0].url);
        try { await client.cancel(job.id); } catch (error) { if (error instanceof JobFailed) console.log(error.code); }
        export {};
        """
    wrong = ["client.push({ source: 's', fromat: 'mp3' })", "client.push({ format: 'mp3' })", "client.wait(1)", "client.cancle('1-1')",
             "client.status('1-1').state", "new Client()"]
    (tmp_path / "right.mts").write_text(right)
    words = ["tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "node16", "--lib", "es2022,dom"]
    run(*words, tmp_path / "right.mts")
    text = "import { Client } from 'respool';\ndeclare const client: Client;\n" + "\n".join(f"{line};" for line in wrong)
    (tmp_path / "wrong.mts").write_text(text)
    done = subprocess.run([*words, tmp_path / "wrong.mts"], capture_output=True, text=True)
    found = {int(number) for number in re.findall(r"wrong\.mts\((\d+),", done.stdout)}
    equal(found, set(range(3, 3 + len(wrong))), f"lines with errors ({done.stdout})")


def link(folder):
    """Makes the package importable from a folder, as `npm install` does."""
    os.mkdir(f"{folder}/node_modules")
    os.symlink(NODE, f"{folder}/node_modules/respool")


@pytest.mark.long
def test_the_node_readme_and_the_example_run_as_they_are_pasted(service, server, tmp_path):
    needs("node", "--version")
    link(tmp_path)
    printed = []
    for block in re.findall(r"^```js\n(.*?)^```$", (NODE / "README.md").read_text(), re.MULTILINE | re.DOTALL):
        for old, new in (("http://127.0.0.1:8080", server), ("'…'", "'operate-secret'"), ("https://example.org/talk.flac", service.source("a.wav"))):
            block = block.replace(old, new)
        (tmp_path / "block.mjs").write_text(block)
        printed.append(run("node", tmp_path / "block.mjs", seconds=300))
    equal(len(printed), 2, "blocks of the README")
    check(re.fullmatch(r".*\.mp3 3 s\n", printed[0]), printed[0])
    equal(len(re.findall(r"(?m)^\S+ completed$", printed[1])), 2, f"jobs that ended ({printed[1]})")
    example = ["node", ROOT / "examples/clients/convert.mjs"]
    environment = {"RESPOOL_URL": server, "RESPOOL_TOKEN": "operate-secret"}
    id = run(*example, "push", service.source("a.wav"), "mp3", "end=1", **environment).strip()
    check(f"completed {service.outputs}/{id}.mp3" in run(*example, "watch", id, **environment), "`watch` names no result")
    done = subprocess.run([*example, "watch", "1-1"], env={**os.environ, **environment}, capture_output=True, text=True)
    equal((done.returncode, done.stderr), (1, "no such job\n"), "`watch` for an unknown job")
