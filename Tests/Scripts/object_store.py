"""A store that speaks as S3 does: moto's, behind a gate that checks signatures and sums as Amazon's own library computes them.

object_store.py FOLDER KEY... Files of `seeds/<bucket>`, named as their keys are encoded,
are in the bucket from its first request on; a line of `<bucket>.rules`
(pattern, times, action) spoils requests; `<bucket>.log` has a line a request, and `<bucket>.json` shows the bucket after each
change. Keys are `identifier=secret` or `identifier=secret:token`. It prints its port and ends with its standard input.
"""

import datetime, hashlib, io, json, os, re, socket, sys, threading, urllib.parse
# Amazon takes no smaller parts than five mebibytes.
os.environ["S3_UPLOAD_PART_MIN_SIZE"] = "65536"
import botocore.auth, botocore.awsrequest, botocore.credentials
import moto.server
import werkzeug.serving
from moto.s3.models import s3_backends
from moto.core import DEFAULT_ACCOUNT_ID

folder, keys = sys.argv[1], dict(pair.split("=", 1) for pair in sys.argv[2:])
backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
lock = threading.Lock()
turns = {}

class Signer(botocore.auth.S3SigV4Auth):
    """Amazon's own signing, of a request that came."""
    def _modify_request_before_signing(self, request): pass

def fault(environ, body):
    """Why the request is not as Amazon would take it, by Amazon's own library; nothing if it is."""
    fields = {"Host": environ["HTTP_HOST"]}
    for name, value in environ.items():
        if name.startswith("HTTP_"): fields[name[5:].replace("_", "-").title()] = value
    if environ.get("CONTENT_TYPE"): fields["Content-Type"] = environ["CONTENT_TYPE"]
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)",
        fields.get("Authorization", ""))
    if not match: return "AccessDenied"
    identifier, _, region, signed, signature = match.groups()
    if identifier not in keys: return "InvalidAccessKeyId"
    secret, _, token = keys[identifier].partition(":")
    if token and fields.get("X-Amz-Security-Token") != token: return "InvalidToken"
    if "host" not in signed.split(";") or "x-amz-content-sha256" not in signed.split(";"): return "AccessDenied"
    if any(name.lower().startswith("x-amz-") and name.lower() not in signed.split(";") for name in fields): return "AccessDenied"
    sum = fields["X-Amz-Content-Sha256"]
    if sum != "UNSIGNED-PAYLOAD" and sum != hashlib.sha256(body).hexdigest(): return "XAmzContentSHA256Mismatch"
    request = botocore.awsrequest.AWSRequest(environ["REQUEST_METHOD"], "http://" + environ["HTTP_HOST"] + environ["REQUEST_URI"],
        headers={name: value for name, value in fields.items() if name.lower() in signed.split(";")}, data=body)
    request.context["timestamp"] = fields["X-Amz-Date"]
    signer = Signer(botocore.credentials.Credentials(identifier, secret), "s3", region)
    own = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    return None if own == signature else "SignatureDoesNotMatch"

def bucket(name):
    if name not in seen_buckets:
        seen_buckets.add(name)
        backend.create_bucket(name, "eu-central-1")
        seeds = os.path.join(folder, "seeds", name)
        for file in os.listdir(seeds) if os.path.isdir(seeds) else []:
            backend.put_object(name, urllib.parse.unquote(file), open(os.path.join(seeds, file), "rb").read())

seen_buckets = set()

def save(name):
    """Leaves a picture of the bucket."""
    held = backend.get_bucket(name)
    objects = {}
    for key in held.keys.values():
        # Made once for each object: a test has hundreds.
        if not hasattr(key, "picture"):
            key.picture = {"size": key.size, "sha256": hashlib.sha256(key.value).hexdigest(), "etag": key.etag,
                "metadata": dict(key.metadata), "storage": key.storage_class, "encryption": key.encryption or ""}
        objects[key.name] = key.picture
    picture = {"objects": objects, "uploads": sorted(upload.key_name for upload in held.multiparts.values())}
    path = os.path.join(folder, name + ".json")
    with open(path + "~", "w") as file: json.dump(picture, file)
    os.rename(path + "~", path)

def rule(name, line):
    """What is to happen to the request in place of an answer: the first rule of the bucket that it meets, so many times."""
    try: rules = open(os.path.join(folder, name + ".rules")).read().splitlines()
    except FileNotFoundError: return None
    for text in rules:
        pattern, times, action = text.split()
        if not re.search(pattern, line): continue
        with lock: turn = turns[name, text] = turns.get((name, text), 0) + 1
        if turn <= int(times): return action
    return None

class Handler(werkzeug.serving.WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    def log(self, *arguments): pass

def cut(body, connection):
    yield body[:len(body) // 2]
    connection.shutdown(socket.SHUT_RDWR)

class Store:
    def __init__(self, app): self.app = app
    def __call__(self, environ, start):
        uri = environ["REQUEST_URI"]
        name = uri.split("?")[0].split("/")[1]
        line = environ["REQUEST_METHOD"] + "_" + uri
        action = rule(name, line)
        if action == "half":
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0) // 2)
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            start("500 Cut", [])
            return []
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        with lock: bucket(name)
        status = []
        def begin(code, fields, *rest):
            status.append(code)
            return start(code, fields, *rest)
        def refuse(code, number):
            text = ("<Error><Code>%s</Code><Message>No.</Message></Error>" % code).encode()
            begin("%d %s" % (number, code), [("Content-Length", str(len(text)))])
            return [text]
        wrong = fault(environ, body)
        if wrong: answer = refuse(wrong, 403)
        elif re.match("POST_.*uploadId=", line) and not known(name, uri): answer = refuse("NoSuchUpload", 404)
        elif action == "lost":
            with lock:
                list(self.app(environ, begin))
                save(name)
            answer = []
        elif action == "hang":
            hangs.wait()
            raise ConnectionAbortedError
        elif action == "drop": answer = refuse("Dropped", 500)
        elif action and action.isdigit(): answer = refuse("SlowDown" if action == "503" else "Refused", int(action))
        elif action == "cut": answer = cut(b"".join(self.app(environ, begin)), environ["werkzeug.socket"])
        elif action == "long-name": answer = [b"<R><UploadId>%s</UploadId></R>" % (b"x" * 2000)]; begin("200 OK", [])
        elif action == "late-error": answer = [b'<Error><Code>InternalError</Code><Message>No.</Message></Error>']; begin("200 OK", [])
        else:
            with lock:
                # moto's uploads were all begun in 2010.
                now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z").encode()
                answer = [part.replace(b"2010-11-10T20:48:33.000Z", now) for part in self.app(environ, begin)]
                if environ["REQUEST_METHOD"] not in ("GET", "HEAD"): save(name)
        with lock, open(os.path.join(folder, name + ".log"), "a") as log:
            log.write("%s %s %s\n" % (line, status[0][:3] if status else "-", environ.get("HTTP_RANGE", "-")))
        # Not before it is logged: the next request may come at once.
        if action in ("drop", "lost"): environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return answer

def known(name, uri):
    """Whether there is such an upload; moto itself has no answer where there is not."""
    return urllib.parse.parse_qs(uri.partition("?")[2])["uploadId"][0] in backend.get_bucket(name).multiparts

hangs = threading.Event()
app = Store(moto.server.DomainDispatcherApplication(moto.server.create_backend_app))
server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
