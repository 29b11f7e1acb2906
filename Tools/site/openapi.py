"""The reference of the HTTP API as a page, made from the OpenAPI document that `respool serve` has at /v1/openapi.json."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")


def document(program):
    """The bytes of the document: asked from a server, which needs no Redis for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "RESPOOL_REDIS_URL": "unix:///nonexistent", "RESPOOL_LOG": "error"}
    server = subprocess.Popen([program, "serve", "--listen", f"127.0.0.1:{port}"], env=environment, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            if server.poll() is not None:
                raise SystemExit(f"{program} serve ended with {server.returncode}: {server.stderr.read().decode()}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/openapi.json", timeout=5) as answer:
                    return answer.read()
            except urllib.error.URLError:
                time.sleep(0.05)
        raise SystemExit(f"{program} serve does not answer within 10 s")
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=30)


def page(data):
    """The page in Markdown."""
    found = json.loads(data)
    parts = ["# Reference of the HTTP API\n",
             f"Version {found['info']['version']}, made from the [OpenAPI {found['openapi']} document](openapi.json). [The HTTP API](http-api.md) "
             "explains requests, uploads, events and errors.\n"]
    for title, operations in groups(found["paths"]):
        parts.append(f"## {title}\n")
        parts += [operation(*one) for one in operations]
    parts.append("## Objects\n")
    for name, schema in found["components"]["schemas"].items():
        parts.append(f"### The object `{name}`\n\n{table(schema)}")
    return "\n".join(parts)


def groups(paths):
    """The operations by the first part of their path, in the order of the document."""
    found = {}
    for path, item in paths.items():
        words = path.strip("/").split("/")
        title = words[1].partition(".")[0].capitalize() if words[0] == "v1" and len(words) > 1 else "Server"
        title = "Document" if title == "Openapi" else title
        for method in METHODS:
            if method in item:
                found.setdefault(title, []).append((method.upper(), path, item[method], item.get("parameters", [])))
    return found.items()


def operation(method, path, item, shared):
    parts = [f"### {method} {path}\n", "\n".join(filter(None, (item.get("summary"), item.get("description")))) + "\n"]
    parameters = shared + item.get("parameters", [])
    if parameters:
        rows = [(f"`{one['name']}`", one["in"], kind(one["schema"]), "yes" if one.get("required") else "", one.get("description", ""))
                for one in parameters]
        parts.append(rows_of(("parameter", "in", "type", "required", "meaning"), rows))
    body = item.get("requestBody")
    if body:
        parts.append(f"**Body**{'' if body.get('required') else ' (optional)'}:\n\n{content(body['content'])}")
    for status, answer in item["responses"].items():
        what = f"**{status}**: {answer['description']}" if status != "default" else f"**Errors**: {answer['description']}"
        parts.append(f"{what}\n\n{headers(answer)}{content(answer.get('content', {}))}")
    return "\n".join(parts)


def headers(answer):
    rows = [(f"`{name}`", kind(one.get("schema", {})), one.get("description", "")) for name, one in answer.get("headers", {}).items()]
    return rows_of(("header", "type", "meaning"), rows) + "\n" if rows else ""


def content(media):
    """What a body may be, by its type."""
    parts = []
    for name, one in media.items():
        schema = one.get("schema", {})
        choices = schema.get("oneOf", [schema])
        for number, choice in enumerate(choices):
            words = f"`{name}`" if number == 0 else "or"
            parts.append(f"{words}: {kind(choice)}\n\n{table(choice) if '$ref' not in choice else ''}")
    return "\n".join(parts)


def table(schema):
    """The members of an object, those of inner objects too."""
    rows = list(members(schema, ""))
    return rows_of(("member", "type", "required", "meaning"), rows) if rows else ""


def members(schema, before):
    if "items" in schema:
        yield from members(schema["items"], f"{before}[]")
        return
    for name, one in schema.get("properties", {}).items():
        path = f"{before}.{name}" if before else name
        meaning = one.get("description", "")
        if "x-default" in one:
            meaning += f" (default: {one['x-default']})"
        yield f"`{path}`", kind(one), "yes" if name in schema.get("required", ()) else "", meaning
        if "$ref" not in one:
            yield from members(one, path)


def kind(schema):
    """The type of a value in words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#the-object-{name.lower()})"
    for choice in ("oneOf", "anyOf"):
        if choice in schema and "type" not in schema:
            return " or ".join(kind(one) for one in schema[choice])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    types = schema.get("type", "any value")
    words = " or ".join(types) if isinstance(types, list) else types
    if "items" in schema:
        words += f" of {kind(schema['items'])}"
    return words + limits(schema)


def limits(schema):
    """The bounds of a value, in brackets."""
    found = []
    for low, high, what in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " entries")):
        if low in schema and high in schema:
            found.append(f"{schema[low]} to {schema[high]}{what}")
        elif low in schema:
            found.append(f"at least {schema[low]}{what}")
        elif high in schema:
            found.append(f"at most {schema[high]}{what}")
    if "pattern" in schema:
        found.append(f"`{schema['pattern']}`")
    if "format" in schema:
        found.append(schema["format"])
    return f" ({', '.join(found)})" if found else ""


def rows_of(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
