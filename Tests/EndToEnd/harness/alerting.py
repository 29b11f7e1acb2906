"""Real scrapes of `/metrics`, given to promtool as the series of a Prometheus that evaluates the alert rules."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.request

import pytest
from processes import check, free_port
from service import ROOT

RULES = ROOT / "deploy/prometheus/respool.rules.yml"
LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
# Minutes before what is to be seen.
CALM = 20


def promtool():
    """The path of promtool: installed, or where Tools/check-monitoring puts it."""
    fetched = ROOT / ".build/prometheus/usr/bin/promtool"
    found = shutil.which("promtool") or (str(fetched) if fetched.exists() else None)
    return found or pytest.skip("promtool is missing: run Tools/check-monitoring, which fetches it")


class Target:
    """A program that is scraped."""

    def __init__(self, job):
        self.job, self.port = job, free_port()
        self.address = f"127.0.0.1:{self.port}"

    def scrape(self):
        """The samples by series, with the labels that Prometheus adds, and `up`."""
        labels = f'job="{self.job}",instance="{self.address}"'
        try:
            with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=20) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return {f"up{{{labels}}}": 0.0}
        samples = {f"up{{{labels}}}": 1.0}
        for line in lines:
            if not line.startswith("#"):
                name, own, value = LINE.match(line).groups()
                samples[f"{name}{{{labels}{',' + own if own else ''}}}"] = float(value)
        return samples

    def has(self, text):
        """Whether a series contains the text and is not 0."""
        return any(text in series and value for series, value in self.scrape().items())


class Alerts:
    """Situations, and the alerts that fire in them."""

    def __init__(self):
        self.tests, self.names = [], []

    def fires(self, alert, before, after, minutes, grows=False):
        """Expects the alert that many minutes after the change from one scrape to another.

        The second scrape stays as it is, or what changed changes again each minute.
        """
        series = []
        for name in sorted(before | after):
            first, last = before.get(name), after.get(name)
            if grows:
                first = first or 0
                values = f"{first:f}x{CALM - 1} {first:f}{(last or 0) - first:+f}x{minutes + 5}"
            else:
                # `_x3` is three samples, and `1x3` is four.
                values = " ".join(
                    f"_x{count + 1}" if value is None else f"{value:f}x{count}"
                    for value, count in ((first, CALM - 1), (last, minutes + 5)))
            series.append({"series": name, "values": values})

        def expect(state, minute):
            expression = f'count(ALERTS{{alertname="{alert}", alertstate="{state}"}}) > bool 0'
            return {"expr": expression, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": 1}]}

        calm = {"expr": f'ALERTS{{alertname="{alert}", alertstate="firing"}}', "eval_time": f"{CALM - 1}m", "exp_samples": []}
        self.tests.append({
            "name": alert, "interval": "1m", "input_series": series,
            "promql_expr_test": [calm, expect("firing", CALM + minutes)]})
        self.names.append(alert)

    def check(self):
        """Evaluates the rules; returns the names of the alerts, all of which fire."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tests.yml"
            path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": self.tests}))
            done = subprocess.run([promtool(), "test", "rules", path], capture_output=True, text=True)
        check(done.returncode == 0, f"promtool:\n{done.stdout}{done.stderr}")
        return self.names
