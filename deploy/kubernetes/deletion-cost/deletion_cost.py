"""Sets the pod-deletion cost of worker pods to the number of jobs that they run, so that idle pods are removed first.

It needs nothing but Python, and the rights to list and patch pods of its namespace. It holds no secret of respool, and reads
nothing but the metrics of the workers.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
RUNNING = re.compile(rb"^respool_jobs_running ([0-9]{1,6})(?:\.0)?$", re.MULTILINE)
# A pod that does not say what it runs may run anything.
UNKNOWN = 1_000_000
LONGEST_METRICS = 1 << 20
# What a request raises if there is no answer, or none that can be read.
FAULTS = (OSError, ValueError, KeyError, http.client.HTTPException)


class Cluster:
    """The pods of a namespace, by the API server."""

    def __init__(self, url, account):
        self.account = account
        namespace = (account / "namespace").read_text().strip()
        self.pods = f"{url}/api/v1/namespaces/{urllib.parse.quote(namespace)}/pods"
        authority = account / "ca.crt"
        self.context = ssl.create_default_context(cafile=authority) if url.startswith("https://") else None

    def ask(self, url, body=None):
        # The token is replaced from time to time, so it is read for each request.
        headers = {"Authorization": f"Bearer {(self.account / 'token').read_text().strip()}"}
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
        request = urllib.request.Request(
            url, json.dumps(body).encode() if body is not None else None, headers, method="PATCH" if body is not None else "GET")
        with urllib.request.urlopen(request, timeout=10, context=self.context) as answer:
            return json.load(answer)

    def list(self, selector):
        return self.ask(f"{self.pods}?{urllib.parse.urlencode({'labelSelector': selector})}")["items"]

    def set_cost(self, name, cost):
        self.ask(f"{self.pods}/{urllib.parse.quote(name)}", {"metadata": {"annotations": {ANNOTATION: str(cost)}}})


def running_jobs(host, port):
    """How many jobs a worker runs, by its metrics."""
    host = f"[{host}]" if ":" in host else host
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=3) as answer:
            found = RUNNING.search(answer.read(LONGEST_METRICS))
    except FAULTS:
        return UNKNOWN
    return int(found[1]) if found else UNKNOWN


def update(cluster, selector, port):
    """Sets the costs that have changed, and returns them by pod, and by pod why others could not be set."""
    changed, failed = {}, {}
    for pod in cluster.list(selector):
        metadata, host = pod["metadata"], pod.get("status", {}).get("podIP")
        if not host or metadata.get("deletionTimestamp"):
            continue
        cost = running_jobs(host, port)
        if (metadata.get("annotations") or {}).get(ANNOTATION) != str(cost):
            try:
                cluster.set_cost(metadata["name"], cost)
            except urllib.error.HTTPError as error:
                # With 404 it was removed in the meantime.
                if error.code != 404:
                    failed[metadata["name"]] = error
            except FAULTS as error:
                failed[metadata["name"]] = error
            else:
                changed[metadata["name"]] = cost
    return changed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--selector", required=True, help="the labels of the worker pods")
    parser.add_argument("--port", type=int, required=True, help="the port of their metrics")
    parser.add_argument("--interval", type=float, default=15, help="seconds between two rounds")
    parser.add_argument("--once", action="store_true", help="end after one round")
    parser.add_argument("--server", help="the URL of the API server, by default that of the cluster")
    parser.add_argument("--account", type=pathlib.Path, default=ACCOUNT, help="the folder of the service account")
    options = parser.parse_args()
    server = options.server
    if not server:
        host = os.environ["KUBERNETES_SERVICE_HOST"]
        server = f"https://{f'[{host}]' if ':' in host else host}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    cluster = Cluster(server, options.account)
    while True:
        try:
            changed, failed = update(cluster, options.selector, options.port)
        except FAULTS as error:
            changed, failed = {}, {None: error}
        for name, cost in changed.items():
            print(json.dumps({"pod": name, "cost": cost}), flush=True)
        for name, error in failed.items():
            whose = f"the cost of {name} is" if name else "the costs are"
            print(json.dumps({"error": f"{whose} not up to date: {error}"}), file=sys.stderr, flush=True)
        if options.once:
            return 1 if failed else 0
        time.sleep(options.interval)


if __name__ == "__main__":
    sys.exit(main())
