"""The manifests of deploy/kubernetes: they render, pass the schemas, agree with the programs, and count the jobs of a real queue."""

import http.server
import json
import os
import pathlib
import re
import signal
import socket
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest
from manifests import FOLDER, PARTS, PYTHON, Manifests, number, render, renderers, schema_errors
from processes import check, equal, free_port, run, until
from service import PREFIX, RESPOOL, ROOT, Connection, Process

# The oldest and the newest version of Kubernetes for which the schemas are checked.
VERSIONS = ("1.29", "1.37")
# What a worker takes after the grace: to publish, to report, and to send callbacks.
AFTER_GRACE = 15


@pytest.fixture(scope="module")
def manifests():
    return Manifests()


@pytest.mark.release
def test_the_manifests_render_and_pass_the_schemas(manifests, figures):
    tool = PYTHON.parent / "kubernetes-validate"
    check(tool.exists(), "kubernetes-validate is missing: run deploy/install-python kubernetes-validate==1.37.0")
    lines = set()
    for kubectl in renderers():
        for part in PARTS:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(render(kubectl, part))
                file.flush()
                for version in VERSIONS:
                    printed = run(tool, "--strict", "-k", version, file.name).decode()
                    lines |= {re.sub(r"/tmp/\S+ ", "", line) for line in printed.splitlines()}
    custom = manifests.all("ScaledObject", "TriggerAuthentication")
    passed = {line for line in lines if "passed for resource" in line}
    # Objects of KEDA have no schema in Kubernetes.
    equal(len(lines - passed), len(custom) * len(VERSIONS), "lines that do not say `passed`")
    # The hash of a generated name is that of the version of kustomize.
    found = {re.sub(r"-[0-9a-z]{10}$", "", line.split()[4]) for line in passed}
    equal(len(found), len(manifests.objects) - len(custom), "objects that passed")
    # KEDA's definitions are config/crd/bases of github.com/kedacore/keda.
    definitions = os.environ.get("KEDA_DEFINITIONS")
    if definitions:
        equal(schema_errors(definitions, custom), [], "errors of KEDA's schemas")
        broken = json.loads(json.dumps(custom).replace("pollingInterval", "pollInterval"))
        equal(len(schema_errors(definitions, broken)), 1, "errors for a field that does not exist")
    figures(f"{len(renderers())} versions of kubectl, {len(manifests.objects)} objects, Kubernetes {' and '.join(VERSIONS)}"
            + (f", {len(custom)} objects of KEDA" if definitions else "; KEDA_DEFINITIONS is not set"))


def environment_of(manifests, pod):
    """The variables of a pod's container that have a value, and the names of all."""
    container, = pod["spec"]["containers"]
    values = {}
    for source in container.get("envFrom", []):
        values |= manifests("ConfigMap", re.sub(r"-[0-9a-z]{10}$", "", source["configMapRef"]["name"]))["data"]
    own = container.get("env", [])
    return values | {one["name"]: one["value"] for one in own if "value" in one}, set(values) | {one["name"] for one in own}


@pytest.mark.long
def test_the_manifests_agree_with_the_programs_and_each_other(manifests, figures):
    pods = manifests.pods()
    known = set(re.findall(r"^ *(RESPOOL_[A-Z_0-9]+)", run(RESPOOL, "settings").decode(), re.MULTILINE))
    values, names = environment_of(manifests, pods["respool-worker"])
    names |= environment_of(manifests, pods["respool-serve"])[1]
    equal({name for name in names if name.startswith("RESPOOL_")} - known, set(), "variables that are no settings")

    worker, serve = (pods[f"respool-{name}"]["spec"] for name in ("worker", "serve"))
    check(worker["terminationGracePeriodSeconds"] >= int(values["RESPOOL_GRACE"]) + AFTER_GRACE,
          "Kubernetes kills a worker before its drain has ended")
    slots = int(values["RESPOOL_SLOTS"])
    container, = worker["containers"]
    trigger, = manifests("ScaledObject", "respool-worker")["spec"]["triggers"]
    metric, = manifests("HorizontalPodAutoscaler", "respool-worker")["spec"]["metrics"]
    equal([number(container["resources"]["requests"]["cpu"]), int(trigger["metadata"]["listLength"]),
           int(metric["external"]["target"]["averageValue"])], [slots] * 3, "slots by CPU, by KEDA and by the autoscaler")
    equal(trigger["metadata"]["listName"], f"respool:{{{values['RESPOOL_QUEUE']}}}:live", "the set that KEDA counts")
    check(f"`{metric['external']['metric']['name']}`" in (ROOT / "docs/metrics.md").read_text(), "the autoscaler's metric is unknown")
    # A slot has two pairs of children, each with a source and an output.
    spool = next(one for one in worker["volumes"] if one["name"] == "spool")["emptyDir"]["sizeLimit"]
    check(number(spool) >= 2 * slots * sum(int(values[f"RESPOOL_MAX_{name}_BYTES"]) for name in ("SOURCE", "OUTPUT")),
          "the spool has no room for the sources and outputs of all slots")
    for name in ("ScaledObject", "HorizontalPodAutoscaler"):
        spec = manifests(name, "respool-worker")["spec"]
        equal((spec["scaleTargetRef"]["name"], spec.get("minReplicaCount", spec.get("minReplicas"))), ("respool-worker", 1), name)

    # Each process signs tickets and confirmations with a key of its own.
    equal(manifests("Deployment", "respool-serve")["spec"]["replicas"], 1, "servers")
    ids = re.search(r"USER (\d+):(\d+)", (ROOT / "deploy/Dockerfile").read_text()).groups()
    for name, pod in pods.items():
        check_pod(name, pod["spec"], [int(id) for id in ids])
    check_selectors(manifests, pods)
    # Only the process that sets the cost of pods has a token of the cluster. It has nothing of Redis.
    equal([name for name, pod in pods.items() if pod["spec"]["automountServiceAccountToken"]], ["respool-deletion-cost"], "tokens")
    check("RESPOOL" not in json.dumps(pods["respool-deletion-cost"]), "the cost of pods is set by a process with settings of respool")
    equal({one["subjects"][0]["name"] for one in manifests.all("RoleBinding")}, {"respool-deletion-cost"}, "accounts with rights")
    figures(f"{len(names)} variables, grace {values['RESPOOL_GRACE']} s of {worker['terminationGracePeriodSeconds']} s, {slots} slots")


def check_pod(name, spec, ids):
    """A pod runs as the image's user, and may do nothing beyond that."""
    context, (container,) = spec["securityContext"], spec["containers"]
    equal([context[key] for key in ("runAsUser", "runAsGroup", "fsGroup")], [ids[0], ids[1], ids[1]], f"ids of {name}")
    check(context["runAsNonRoot"], f"{name} may run as root")
    equal(context["seccompProfile"], {"type": "RuntimeDefault"}, f"seccomp profile of {name}")
    equal(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                         "capabilities": {"drop": ["ALL"]}}, f"rights of {name}")
    check({"requests", "limits"} <= container["resources"].keys(), f"{name} has no limits")
    mounted, volumes = ({one["name"] for one in found} for found in (container.get("volumeMounts", []), spec.get("volumes", [])))
    equal(mounted, volumes, f"volumes of {name}")
    ports = {one["name"] for one in container.get("ports", [])}
    used = {probe["httpGet"]["port"] for key, probe in container.items() if key.endswith("Probe")}
    equal(used - ports, set(), f"ports of the probes of {name}")


def check_selectors(manifests, pods):
    """What selects pods selects those of one deployment, and the names of ports are theirs."""
    labels = {name: pod["metadata"]["labels"] for name, pod in pods.items()}
    ports = {name: {one["name"] for one in pod["spec"]["containers"][0].get("ports", [])} for name, pod in pods.items()}

    def selected(selector):
        return [name for name, found in labels.items() if selector.items() <= found.items()]

    for one in manifests.all("Deployment", "PodDisruptionBudget"):
        equal(selected(one["spec"]["selector"]["matchLabels"]), [one["metadata"]["name"]], f"pods of {one['kind']}")
    for one in manifests.all("NetworkPolicy"):
        name, = selected(one["spec"]["podSelector"]["matchLabels"])
        own = {port["port"] for rule in one["spec"].get("ingress") or [] for port in rule["ports"]}
        equal(own, ports[name], f"ports that the policy of {name} opens")
    service = manifests("Service", "respool-serve")["spec"]
    equal(selected(service["selector"]), ["respool-serve"], "pods of the service")
    equal({one["targetPort"] for one in service["ports"]} - ports["respool-serve"], set(), "ports of the service")
    arguments = pods["respool-deletion-cost"]["spec"]["containers"][0]["args"]
    options = dict(zip(arguments[::2], arguments[1::2]))
    equal(selected(dict(part.split("=") for part in options["--selector"].split(","))), ["respool-worker"], "pods that get a cost")
    equal(int(options["--port"]), pods["respool-worker"]["spec"]["containers"][0]["ports"][0]["containerPort"], "port of metrics")


@pytest.mark.long
def test_the_programs_run_with_the_settings_of_the_manifests(service, manifests, audio, figures):
    ports = {"worker": free_port(), "serve": free_port()}
    tokens = pathlib.Path(service.folder, "tokens")
    tokens.write_text(f"test read {'0' * 64}\n")
    started = {}
    for name, port in ports.items():
        values, _ = environment_of(manifests, manifests.pods()[f"respool-{name}"])
        container, = manifests.pods()[f"respool-{name}"]["spec"]["containers"]
        own = {"RESPOOL_LISTEN": values["RESPOOL_LISTEN"].replace(str(container["ports"][0]["containerPort"]), str(port))}
        own |= {"RESPOOL_SPOOL_DIR": service.spool} if name == "worker" else {"RESPOOL_API_TOKENS": str(tokens)}
        started[name] = Process([RESPOOL, *container["args"]], f"{service.folder}/{name}.log", service.environment | values | own)
        for probe in ("livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            until(f"{name} answers {path}", 20, lambda: status(port, path) == 200)
    log = pathlib.Path(started["worker"].log).read_text()
    check("fully confined" not in log and "unknown setting" not in log, f"the worker warns: {log}")
    for name, process in started.items():
        process.send(signal.SIGTERM)
        equal(process.wait(), 0, f"exit status of {name}")
    figures("the worker and serve were alive and ready, with RESPOOL_SANDBOX=require")


def status(port, path):
    """The status of a probe as the kubelet sends it, with an address that the program does not know in `Host`."""
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": f"10.1.2.3:{port}"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


# For a set KEDA's Redis scaler calls SCARD, for a key that does not exist LLEN, both in a script with this one key.
COUNT = """
local kind = redis.call('type', KEYS[1]).ok
if kind == 'set' then return redis.call('scard', KEYS[1]) end
return redis.call('llen', KEYS[1])
"""


@pytest.mark.long
def test_keda_counts_the_jobs_of_a_queue_with_an_account_that_reads_nothing_else(service, redis, manifests, start_worker, audio, web, figures):
    page = (ROOT / "docs/how-to/kubernetes.md").read_text()
    account = re.search(r"^redis-cli (ACL SETUSER keda .*)$", page, re.MULTILINE)[1]
    redis(*account.replace("'", "").split())
    keda = Connection(redis.path)
    keda("AUTH", "keda", re.search(r" '>(\S+)' ", account)[1])
    trigger, = manifests("ScaledObject", "respool-worker")["spec"]["triggers"]
    name = trigger["metadata"]["listName"]

    def count():
        return keda("EVAL", COUNT, 1, name)

    equal(count(), 0, "jobs of a queue that does not exist")
    audio("a.wav", 2)
    # Its source never comes.
    web.rules["/a.wav"] = {"held": threading.Event()}
    long, = service.push({"source": f"{web.url}/a.wav", "format": "opus"})
    worker = start_worker(slots=1, allow_hosts="127.0.0.1")
    service.wait([long], 20, ["running"])
    ids = service.push(*[{"source": service.source("a.wav"), "format": "wav"}] * 4)
    delayed = service.push({"source": service.source("a.wav"), "format": "wav", "delay": "3600"})
    until("all jobs are admitted", 10, lambda: redis("ZCARD", PREFIX + "delayed") == len(delayed))
    equal(count(), 5, "one running job and four that wait")
    for words in (["EVAL", COUNT, 1, PREFIX + "ready"], ["SMEMBERS", name], ["GET", f"{PREFIX}spec:{ids[0]}"], ["DEL", name],
                  ["EVAL", "return redis.call('del', KEYS[1])", 1, name]):
        with pytest.raises(RuntimeError, match="NOPERM|permissions|can't run"):
            keda(*words)
    service.respool("cancel", long, *delayed)
    service.completed(ids, 30)
    until("no job is left", 10, lambda: count() == 0)
    # Jobs that no worker has admitted yet are in the inbox alone, so one worker must run.
    worker.send(signal.SIGTERM)
    equal(worker.wait(), 0, "exit status of the worker")
    pushed = service.push(*[{"source": service.source("a.wav"), "format": "wav"}] * 3)
    equal(count(), 0, "jobs that were pushed without a worker")
    start_worker(slots=1)
    service.completed(pushed, 30)
    figures("0 of no queue, 5 with one job running, 0 at the end; 3 jobs that were pushed without any worker were not counted")


class APIServer:
    """Answers as the API server of a cluster does when pods are listed and patched; `pods` are their objects, and changes of those
    whose names are in `broken` get no answer of HTTP."""

    def __init__(self, token):
        self.pods, self.patches, self.queries, self.broken = [], [], [], set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, query = self.path.split("?")
                outer.queries.append((path, dict(urllib.parse.parse_qsl(query)), self.headers["Authorization"] == f"Bearer {token}"))
                self.answer({"items": outer.pods})

            def do_PATCH(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                name = self.path.rsplit("/", 1)[1]
                found = [one for one in outer.pods if one["metadata"]["name"] == name]
                outer.patches.append((name, self.headers["Content-Type"], body))
                if name in outer.broken:
                    self.wfile.write(b"nonsense\r\n")
                    return
                if found:
                    found[0]["metadata"].setdefault("annotations", {}).update(body["metadata"]["annotations"])
                self.answer(found[0] if found else {}, 200 if found else 404)

            def answer(self, body, code=200):
                self.send_response(code)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, name, address, **metadata):
        self.pods.append({"metadata": {"name": name, **metadata}, "status": {"podIP": address} if address else {}})

    def costs(self):
        return {one["metadata"]["name"]: one["metadata"].get("annotations", {}).get("controller.kubernetes.io/pod-deletion-cost")
                for one in self.pods}


@pytest.mark.long
def test_a_pod_costs_as_many_jobs_as_it_runs(service, start_worker, audio, web, figures):
    port = free_port()
    audio("a.wav", 2)
    # Their source never comes.
    web.rules["/a.wav"] = {"held": threading.Event()}
    busy = start_worker(slots=2, listen=f"127.0.0.2:{port}", allow_hosts="127.0.0.1")
    ids = service.push(*[{"source": f"{web.url}/a.wav", "format": "opus"}] * 2)
    service.wait(ids, 20, ["running"])
    idle = start_worker(slots=2, listen=f"127.0.0.3:{port}")
    for host in (2, 3):
        until("metrics are served", 10, lambda: status_of(f"http://127.0.0.{host}:{port}/readyz") == 200)
    account = pathlib.Path(service.folder, "account")
    account.mkdir()
    (account / "token").write_text("secret\n")
    (account / "namespace").write_text("media")
    server = APIServer("secret")
    # Neither the metrics of this pod nor the answers about it are HTTP. It comes first, and the others get their cost all the same.
    nonsense = socket.create_server(("127.0.0.5", port))
    threading.Thread(target=answer_nonsense, args=[nonsense], daemon=True).start()
    server.add("broken", "127.0.0.5")
    server.broken.add("broken")
    server.add("busy", "127.0.0.2")
    server.add("idle", "127.0.0.3", annotations={"controller.kubernetes.io/pod-deletion-cost": "2"})
    server.add("silent", "127.0.0.4")
    server.add("pending", None)
    server.add("draining", "127.0.0.3", deletionTimestamp="2026-01-01T00:00:00Z")

    def update(status=0):
        return run(sys.executable, "-B", FOLDER / "deletion-cost/deletion_cost.py", "--selector", "a=b", "--port", port, "--once",
                   "--server", server.url, "--account", account, statuses=[status]).decode()

    update(1)
    costs = {"busy": "2", "idle": "0", "silent": "1000000", "pending": None, "draining": None}
    equal(server.costs(), {"broken": None} | costs, "costs")
    equal(server.queries, [("/api/v1/namespaces/media/pods", {"labelSelector": "a=b"}, True)], "requests")
    equal({kind for _, kind, _ in server.patches}, {"application/merge-patch+json"}, "types of the patches")
    server.broken.clear()
    update()
    equal(server.costs(), {"broken": "1000000"} | costs, "costs with one whose metrics are not HTTP")
    count = len(server.patches)
    equal((update(), len(server.patches)), ("", count), "patches when nothing has changed")
    service.respool("cancel", *ids)
    until("the busy worker is idle", 20, lambda: update() and server.costs()["busy"] == "0")
    check(busy.is_running and idle.is_running, "a worker ended")
    figures(f"a pod with 2 jobs costs 2, an idle one 0, a silent one 1000000; {count} patches, none when nothing changed")


def answer_nonsense(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"nonsense\r\n")


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status
    except OSError:
        return 0
