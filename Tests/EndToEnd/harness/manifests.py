"""The manifests of deploy/kubernetes, as a cluster gets them."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml
from processes import check, run
from service import ROOT

FOLDER = ROOT / "deploy/kubernetes"
PARTS = ("base", "keda", "hpa", "deletion-cost")
PYTHON = ROOT / ".build/python/bin/python3"


def debian_kubectl():
    """kubectl of Debian's package, which is fetched and not installed."""
    folder = ROOT / ".build/kubernetes"
    program = folder / "usr/bin/kubectl"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["apt-get", "download", "-q", "kubernetes-client"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"Debian's kubernetes-client cannot be fetched: {done.stderr.strip()}")
        package, = folder.glob("kubernetes-client_*.deb")
        run("dpkg-deb", "-x", package, folder)
        package.unlink()
    return str(program)


def renderers():
    """Debian's kubectl, whose kustomize is of 2019, and one that is installed."""
    return [debian_kubectl()] + ([shutil.which("kubectl")] if shutil.which("kubectl") else [])


def render(kubectl, part):
    """The text of a part."""
    return run(kubectl, "kustomize", FOLDER / part).decode()


class Manifests:
    """The objects of all parts."""

    def __init__(self):
        kubectl = debian_kubectl()
        self.objects = [found for part in PARTS for found in yaml.safe_load_all(render(kubectl, part))]

    def __call__(self, kind, name):
        """The object of that kind whose name is this, or this and a hash of the content."""
        form = re.compile(rf"{name}(-[0-9a-z]{{10}})?")
        found = [one for one in self.objects if one["kind"] == kind and form.fullmatch(one["metadata"]["name"])]
        check(len(found) == 1, f"{len(found)} objects {kind} {name}")
        return found[0]

    def all(self, *kinds):
        return [one for one in self.objects if one["kind"] in kinds]

    def pods(self):
        """The pod templates by the name of their deployment."""
        return {one["metadata"]["name"]: one["spec"]["template"] for one in self.all("Deployment")}


def number(text):
    """A quantity of Kubernetes as a number."""
    value, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    units = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
    return float(value) * units[unit]


# Runs in the Python environment of the tests, which has jsonschema.
VALIDATION = """
import json, sys, jsonschema, yaml

def close(schema):
    if isinstance(schema, list):
        for one in schema: close(one)
    if isinstance(schema, dict):
        if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
        for name, value in schema.items(): close(list(value.values()) if name == "properties" else value)

definitions, objects = json.load(sys.stdin)
schemas = {}
for one in filter(None, yaml.safe_load_all(definitions)):
    for version in one["spec"]["versions"]:
        schema = schemas[f"{one['spec']['group']}/{version['name']}", one["spec"]["names"]["kind"]] = version["schema"]["openAPIV3Schema"]
        close(schema)
        # That of all objects.
        schema["properties"]["metadata"] = {"type": "object"}
for one in objects:
    for error in jsonschema.Draft202012Validator(schemas[one["apiVersion"], one["kind"]]).iter_errors(one):
        print(one["kind"], "/".join(map(str, error.absolute_path)), error.message)
"""


def schema_errors(definitions, objects):
    """What a cluster refuses in custom resources, by the definitions in a folder; fields that it ignores are errors too."""
    text = "\n---\n".join(path.read_text() for path in sorted(pathlib.Path(definitions).glob("*.yaml")))
    done = subprocess.run([PYTHON, "-c", VALIDATION], input=json.dumps([text, objects]), capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return done.stdout.splitlines()
