"""The shell lines of README, the tutorial and the how-to pages run as they are pasted, on a private Redis."""

import os
import re
import shutil

import pytest
from processes import free_port
from service import PROGRAMS, ROOT, Process, check

PAGES = [ROOT / "README.md", ROOT / "docs/tutorial.md", *sorted((ROOT / "docs/how-to").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<language>sh|python|js)(?P<options>[^\n]*)\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)
# How a shell runs a block of another language.
RUNS = {"sh": "{}", "python": "/usr/bin/python3 - <<'END'\n{}END\n", "js": "node - <<'END'\n{}END\n"}
# Ends the programs that a page leaves running. A worker is left until it sends heartbeats, and drains; a server ends its requests;
# others end by the signal.
END = """
for job in $(jobs -p); do
    kill -0 $job 2>/dev/null || continue
    code=143
    if [[ $(ps -o args= $job) == *" worker"* ]]; then
        until [[ $(respool worker --check 2>&1) == *"worker $job "* ]] || ! kill -0 $job; do sleep 0.1; done
        code=0
    elif [[ $(ps -o args= $job) == *" serve"* || $(ps -o args= $job) == *" up"* ]]; then
        code=0
    fi
    kill $job 2>/dev/null || true
    found=0; wait $job || found=$?
    [[ $found == $code ]] || { echo "a program in the background ended with $found" >&2; exit 1; }
done
"""


def blocks(page):
    """The blocks that run, and the reasons of those that do not."""
    found = list(BLOCK.finditer(page.read_text()))
    reasons = [re.fullmatch(r' no-run="(.+)"', block["options"]) for block in found]
    for block, reason in zip(found, reasons):
        check(reason or not block["options"], f"{page.name}: unknown options of a fence: {block['options']}")
    return ([RUNS[block["language"]].format(block["lines"]) for block, reason in zip(found, reasons) if not reason], [reason[1] for reason in reasons if reason])


@pytest.mark.long
def test_at_most_ten_blocks_of_the_pages_do_not_run():
    reasons = [reason for page in PAGES for reason in blocks(page)[1]]
    check(len(reasons) <= 10, f"{len(reasons)} blocks do not run: {reasons}")


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)[0]], ids=lambda page: page.stem)
def test_the_lines_of_a_page_run_as_they_are_pasted(service, audio, figures, page):
    runnable, _ = blocks(page)
    folder = f"{service.folder}/page"
    os.makedirs(f"{folder}/bin")
    for name in ("examples", "clients"):
        os.symlink(ROOT / name, f"{folder}/{name}")
    # The clients as if they were installed; test_clients.py installs them.
    os.mkdir(f"{folder}/node_modules")
    os.symlink(ROOT / "clients/node", f"{folder}/node_modules/respool")
    audio("talk.flac", 3)
    shutil.move(f"{service.sources}/talk.flac", folder)
    # The programs are those that were built, and Redis is one that disturbs no other, unless it is private.
    for name, line in {**dict.fromkeys(("make", "npm", "pip", "sudo"), "exit 0"), "redis-server": '[ "$1" = --save ] && exit 0; exec /usr/bin/redis-server "$@"',
                       "redis-cli": f'exec /usr/bin/redis-cli -s {service.folder}/redis.sock "$@"'}.items():
        with open(os.open(f"{folder}/bin/{name}", os.O_CREAT | os.O_WRONLY, 0o755), "w") as file:
            file.write(f"#!/bin/sh\n{line}\n")
    text = "".join(runnable)
    # At once, because a free port may contain the digits of another one.
    ports = {port: str(free_port()) for port in ("9090", "8080", "8090", "8099")}
    text = re.sub("|".join(ports), lambda found: ports[found[0]], text)
    # The address by its default name, and a source for which no packet leaves the machine.
    text = text.replace("redis://127.0.0.1:6379", service.redis.url).replace("https://example.org/talk.flac", "http://127.0.0.1:9/talk.flac")
    with open(f"{folder}/lines.sh", "w") as file:
        file.write(text + END)
    environment = {"PATH": f"{folder}/bin:{PROGRAMS}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1",
                   "PYTHONPATH": f"{ROOT}/clients/python/src", "NODE_PATH": "/usr/share/nodejs", "PYTHONDONTWRITEBYTECODE": "1",
                   "RESPOOL_REDIS_URL": service.redis.url, "RESPOOL_SPOOL_DIR": service.spool, "RESPOOL_STATE_DIR": service.folder}
    shell = Process(["env", "-C", folder, "bash", "-ex", "lines.sh"], f"{folder}/lines.log", environment)
    code = shell.wait()
    check(code == 0, f"{page.name} ended with {code}:\n{shell.tail(40)}")
    figures(f"{len(runnable)} blocks, {text.count(chr(10))} lines")
