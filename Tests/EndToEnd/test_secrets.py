"""Secrets in every field that may hold one are in nothing that respool writes, but in the job as it was pushed and its callback."""

import glob
import http.server
import json
import pathlib
import re
import socket
import socketserver
import subprocess
import threading
import urllib.request

import pytest
from processes import HANG, free_port, until
from sound import melody, write
from service import PREFIX, RESPOOL, check, children, equal

KEPT = ("spec:", "callback:", "group:")
count = 0


def secret(what):
    """A word that is found wherever it goes, and says where it came from."""
    global count
    count += 1
    return f"sEcReT{count:02}{what}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Gives files, takes what is put, and answers with the status that a path names."""

    protocol_version = "HTTP/1.1"
    folder = None
    bodies = []

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/away.wav":
            return self.reply(302, {"Location": f"http://hop:{secret('hop')}@127.0.0.2/x.wav?sig={secret('hop')}"})
        if path == "/list.m3u8":
            text = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/404/a.ts?token={secret('segment')}\n#EXT-X-ENDLIST\n"
            return self.reply(200, body=text.encode())
        found = re.match(r"/(\d{3})/", path)
        if found or not (self.folder / path[1:]).is_file():
            return self.reply(int(found[1]) if found else 404)
        self.reply(200, body=(self.folder / path[1:]).read_bytes())

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.command == "POST":
            self.bodies.append(body.decode() + str(self.headers))
        found = re.match(r"/(\d{3})/", self.path)
        self.reply(int(found[1]) if found else 201)

    do_POST = do_PUT

    def reply(self, status, fields={}, body=b""):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FileHandler(socketserver.StreamRequestHandler):
    """Takes files by FTP, and from some users none, whose secrets it says in its replies."""

    answers = {"CWD": "250 Well", "PASS": "230 Come in", "PWD": '257 "/"', "QUIT": "221 Bye", "RNFR": "350 And then",
               "RNTO": "250 Well", "TYPE": "200 Well", "USER": "331 And then"}

    def handle(self):
        self.say("220 Ready")
        said = []
        for line in self.rfile:
            text = line.decode().strip()
            word = text.split()[0]
            said.append(text)
            if word == "EPSV":
                listener = socket.create_server(("127.0.0.1", 0))
                self.say(f"229 There (|||{listener.getsockname()[1]}|)")
            elif word == "STOR" and "Refused" not in str(said):
                self.say("150 Come")
                with listener, listener.accept()[0] as data:
                    while data.recv(1 << 16):
                        pass
                self.say("226 Well")
            elif word == "PASS" and "Denied" in text or word == "STOR":
                self.say(f"5{'30' if word == 'PASS' else '50'} Not for {said}")
            else:
                self.say(self.answers.get(word, "502 What?"))

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")


def jobs(web, host, files):
    """{what: fields}; each with secrets of its own."""
    def url(path, where="", host=host, scheme="http"):
        return (f"{scheme}://{secret(where + 'User')}:{secret(where + 'Password')}@{host}/{path}"
                f"?X-Amz-Signature={secret(where + 'Signature')}&token={secret(where + 'Token')}")

    good = {"source": f"{web}/a.wav", "format": "flac", "attempts": "1"}
    headers = json.dumps({"Authorization": "Bearer " + secret("Bearer"), "X-Key": secret("Header")})
    output = {"output": url("put.flac", "Output"), "output_headers": headers}
    return {
        "a source": {"source": url("a.wav")}, "a source that is not there": {"source": url("404/a.wav")},
        "a source that is denied": {"source": url("403/a.wav")}, "a server that fails": {"source": url("500/a.wav")},
        "no server": {"source": url("a.wav", host="127.0.0.1:1")}, "no host": {"source": url("a.wav", host="nowhere.invalid")},
        "a private address": {"source": url("a.wav", host="127.0.0.2")}, "a redirect": {"source": f"{web}/away.wav"},
        "a playlist": {"source": f"{web}/list.m3u8"}, "no media": {"source": url("letter.txt")},
        "another scheme": {"source": url("a.wav", scheme="ftp")}, "no URL": {"source": url("a.wav").replace("http://", "http:/")},
        "a blank in a URL": {"source": url("a b.wav")}, "an unknown field": {"source": url("a.wav"), "colour": "blue"},
        "a wrong value": {"source": url("a.wav"), "format": "xyz"}, "a path with a query": {"source": url("a.wav", scheme="file")},
        "an object": {"source": url("key", host="bucket", scheme="s3")},
        "an output": output, "an output that is refused": {**output, "output": url("403/put.flac", "Refused")},
        "an output that fails": {**output, "output": url("500/put.flac", "Fails")},
        "an output at a private address": {**output, "output": url("put.flac", "Private", host="127.0.0.2")},
        "an output that is no URL": {**output, "output": url("a b\tc", "Blank")},
        "headers that are none": {**output, "output_headers": json.dumps({"Authorization": secret("Line") + "\n" + secret("Line")})},
        "headers that are no object": {**output, "output_headers": '["' + secret("List") + '"]'},
        "headers for a file": {"output": "a.flac", "output_headers": headers},
        **{f"an output by FTP, {what}": {"output": f"ftp://{secret(what + 'User')}:{secret(what + 'Password')}@{files}/put.flac"}
           for what in ("Taken", "Refused", "Denied")},
        "an output by FTP that names more than a file": {"output": url("put.flac", "File", host=files, scheme="ftp")},
        "several outputs": {"format": None, "outputs": json.dumps([{**output, "format": "mp3"}, {
            "format": "wav", "output": url("403/b.wav", "Second")}, {"format": "opus", "output": "b.opus"}])},
        "outputs that cannot be read": {"format": None, "outputs": '[{"format":"mp3","output":"' + url("a", "Broken")},
        "outputs with a wrong field": {"format": None, "outputs": json.dumps([{**output, "format": "mp3", "colour": "blue"}])},
        "a callback": {"callback": url("done", "Callback")}, "a callback that fails": {"callback": url("500/done", "Callback")},
        "a callback nowhere": {"callback": url("done", "Callback", host="127.0.0.2")},
        "a callback that is none": {"callback": url("done", "Callback", scheme="ftp")},
        "a group": {"source": url("a.wav", "Group"), "group": "nightly"},
    }, good


@pytest.mark.long
def test_secrets_are_in_nothing_that_respool_writes(service, figures):
    folder = pathlib.Path(service.sources)
    write(folder / "a.wav", melody(1))
    (folder / "letter.txt").write_text("no sound\n" * 100)
    Handler.folder = folder
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    files = socketserver.ThreadingTCPServer(("127.0.0.1", 0), FileHandler)
    files.daemon_threads = True
    threading.Thread(target=files.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    web = f"http://{host}"
    kinds, good = jobs(web, host, f"127.0.0.1:{files.server_address[1]}")
    port = free_port()
    signing = "whsec_c0VjUmVUc0VjUmVUc0VjUmVUc0VjUmVUc0VjUmVU"
    worker = service.worker(
        slots=2, allow_hosts="127.0.0.1", allow_output_hosts="127.0.0.1", log="debug", callback_secret=signing, listen=port,
        environment={"AWS_ACCESS_KEY_ID": secret("KeyID"), "AWS_SECRET_ACCESS_KEY": secret("AWS"), "AWS_SESSION_TOKEN": secret("Session"),
                     "AWS_ENDPOINT_URL": web, "RESPOOL_OUTPUT_SCHEMES": "ftp"})
    pushed = [{name: value for name, value in (good | fields).items() if value is not None} for fields in kinds.values()]
    ids = service.push(*pushed)
    service.push({"_seal": "nightly", "callback": f"{web}/500/group?token={secret('Sealed')}"})
    records = service.wait(ids, 60)
    states = dict(zip(kinds, (records[id] for id in ids)))
    for what in ("a source", "an output by FTP, Taken"):
        equal(states[what]["state"], "completed", f"state of {what}: {states[what].get('error')}")
    for what in ("Refused", "Denied"):
        equal(states[f"an output by FTP, {what}"]["error"]["code"], "output_denied", f"the error of an output that is {what}")

    found = {"status": service.respool("status", *ids, statuses=(0, 1)).decode()}
    told = lambda: service.respool("callbacks", "--json").decode().splitlines()
    until("each of the four callbacks was tried, three of them at this server", 20, lambda: len(Handler.bodies) >= 3
          and len(told()) == 4 and all(json.loads(line)["log"] for line in told()))
    for words in (("status", "--json", *ids), ("status",), ("jobs", "--json"), ("jobs",), ("callbacks",), ("callbacks", "--json"), ("doctor",),
                  ("status", "--group", "nightly"), *(("logs", id) for id in ids)):
        found[" ".join(words)[:40]] = service.respool(*words, statuses=(0, 1)).decode()
    for path in ("metrics", "readyz", "healthz"):
        found[path] = urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}").read().decode()
    for pid in children(worker.pid):
        for name in ("cmdline", "environ"):
            if name == "cmdline" or children(worker.pid)[pid] != "respool-transfer":
                found[f"{name} of {pid}"] = pathlib.Path(f"/proc/{pid}/{name}").read_text()
    for fields in pushed[:17]:
        # What is no URL is a file's name by hand, which is said when it is not there.
        if "://" not in fields["source"]:
            continue
        for words in (("probe", fields["source"]), ("convert", fields["source"], f"{service.folder}/by-hand.flac"),
                      ("enqueue", fields["source"], "--to", "xyz")):
            found[" ".join(words)[:40]] = by_hand(service, words)
    worker.send(15)
    worker.wait()
    found["the worker's log"] = pathlib.Path(worker.log).read_text(errors="replace")
    found["what receivers got"] = "\n".join(Handler.bodies)
    check(len(Handler.bodies) >= 3, "no callback came")
    for path in glob.glob(f"{service.folder}/**", recursive=True):
        found[f"name {path}"] = path
    kept = set()
    for key in service.redis("KEYS", "*"):
        text = key + content(service.redis, key)
        place = key.removeprefix(PREFIX)
        if place.startswith(KEPT):
            kept |= words_in(text)
        else:
            found[f"key {key}"] = text
    told = [f"{place}: …{text[max(0, text.find(word) - 60):text.find(word) + 40]!r}"
            for place, text in found.items() for word in sorted(words_in(text))]
    check(not told, f"{len(told)} secrets are told:\n  " + "\n  ".join(told))
    check(signing[6:] not in "".join(found.values()), "the secret of callbacks is told")
    check(len(kept) > 50, f"only {len(kept)} secrets are in the specs: the search finds nothing")
    figures(f"{count} secrets in {len(kinds)} kinds of jobs, in none of {len(found)} things that respool wrote; {len(kept)} in the specs")


def words_in(text):
    return set(re.findall(r"sEcReT\d\d\w+", text))


def by_hand(service, words):
    """What a command says on both of its outputs."""

    done = subprocess.run([RESPOOL, *words], env=service.environment | {"RESPOOL_ALLOW_HOSTS": "127.0.0.1", "RESPOOL_ALLOW_OUTPUT_HOSTS": "127.0.0.1"}, capture_output=True, timeout=HANG)
    return (done.stdout + done.stderr).decode(errors="replace")


def content(redis, key):
    """All that a key holds."""
    read = {"string": ("GET", key), "hash": ("HGETALL", key), "set": ("SMEMBERS", key), "stream": ("XRANGE", key, "-", "+"),
            "zset": ("ZRANGE", key, 0, -1), "list": ("LRANGE", key, 0, -1)}
    return str(redis(*read[redis("TYPE", key)]))
