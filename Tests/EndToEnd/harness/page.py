"""The page of `respool serve` in a headless Chromium, with what the browser complains about."""

import base64
import hashlib
import json
import pathlib
import re
import site
import sys
import urllib.request

from processes import HANG, check, equal, free_port, until
from service import Process, RESPOOL, ROOT

# `deploy/install-python` puts playwright and axe there.
site.addsitedir(str(ROOT / f".build/python/lib/python3.{sys.version_info.minor}/site-packages"))

SIZES = {"wide": (1360, 860), "phone": (390, 844)}
THEMES = ("light", "dark")
SHOTS = ROOT / ".build/page"
HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>'&quot;"


def take_uploads(service):
    """Gives the server and the workers a folder of uploads, in which previews are kept too."""
    folder = pathlib.Path(service.folder, "uploads")
    folder.mkdir()
    service.environment |= {"RESPOOL_UPLOAD_DIR": str(folder), "RESPOOL_SOURCE_ROOTS": f"{service.sources}:{folder}"}
    return folder


class Site:
    """A server of the page for an installation."""

    def __init__(self, service, tokens=None, name="serve"):
        self.service, self.port = service, free_port()
        self.log = f"{service.folder}/{name}.log"
        self.words = [RESPOOL, "serve", "--listen", f"127.0.0.1:{self.port}"]
        if tokens:
            path = pathlib.Path(service.folder) / f"{name}.tokens"
            path.write_text("".join(
                f"{one.split()[0]} {one.split()[1]} {hashlib.sha256(f'{one.split()[0]}-secret'.encode()).hexdigest()} "
                f"{' '.join(one.split()[2:])}\n" for one in tokens))
            self.words += ["--tokens", str(path)]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self):
        self.process = Process(self.words, self.log, self.service.environment)
        until("the server is ready", 20, self.is_ready)

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url + "readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        self.process.popen.terminate()
        equal(self.process.wait(), 0, "the exit status of the server")

    def reports(self):
        """The violations of the page's policy that browsers reported."""
        return [line for line in pathlib.Path(self.log).read_text().splitlines() if "violation of the page's policy" in line]


class Browser:
    """A Chromium; `page` opens tabs whose complaints are collected."""

    def __init__(self):
        from playwright.sync_api import sync_playwright
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
        self.complaints = []

    def page(self, url, size="wide", theme="light", **options):
        width, height = SIZES[size]
        context = self.chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme, **options)
        context.set_default_timeout(1000 * HANG)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", lambda message: self.hear(message))
        page.goto(url)
        return page

    def hear(self, message):
        # Refused requests are part of some tests; Chromium logs each.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.complaints.append(f"{message.type}: {message.text}")

    def close(self):
        self.chromium.close()
        self.playwright.stop()


def check_accessible(page, what):
    """No violation of axe."""
    from axe_playwright_python.sync_playwright import Axe
    found = [(one["id"], [str(node["target"]) for node in one["nodes"]][:5]) for one in Axe().run(page).response["violations"]]
    check(not found, f"axe, {what}: {found}")


def check_width(page, what):
    """Nothing scrolls sideways."""
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    check(widths[0] <= widths[1], f"{what} is {widths[0]} px wide in a window of {widths[1]}")


def shot(page, name):
    """Keeps a screenshot among the artefacts."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))


def check_clean(browser, site):
    """The browser complained of nothing, and reported nothing."""
    equal(browser.complaints, [], "complaints of the browser")
    equal(site.reports(), [], "reports of violations of the policy")


def drop(page, path):
    """Drops a file onto the view Push."""
    transfer = page.evaluate_handle("""([name, text]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(text), one => one.charCodeAt(0))], name));
        return transfer;
    }""", [pathlib.Path(path).name, base64.b64encode(pathlib.Path(path).read_bytes()).decode()])
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": transfer})


def convert_dropped(page, url, path, expect, name):
    """By the page alone: drops a file of 20 s, selects 0:11.010 to 0:17 on its waveform, hears the range, converts it, hears the
    result to its end, and downloads it; returns the path of the download. Keeps screenshots, whose names begin with `name`."""
    page.goto(f"{url}#/push")
    expect(page.locator(".drop")).to_be_visible()
    drop(page, path)
    expect(page.get_by_label("Source", exact=True)).to_have_value(re.compile("^upload:"))
    start, end = (page.get_by_role("slider", name=f"{side} of the range") for side in ("Start", "End"))
    start.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Start", exact=True)).to_have_value("0:11.010")
    end.focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_label("End", exact=True)).to_have_value("0:17.000")
    page.get_by_role("button", name="Hear the range").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    check_accessible(page, "a range on a waveform")
    shot(page, f"{name}-wide-light")
    page.get_by_role("button", name="Podcast").click()
    page.get_by_role("button", name="Push", exact=True).click()
    page.get_by_role("link", name="Open it").click()
    expect(page.locator(".output")).to_contain_text("0:05.990")
    page.get_by_role("button", name="Listen").click()
    expect(page.locator("audio")).to_be_visible()
    until("the result has been played", 30, lambda: page.evaluate("document.querySelector('audio').ended"))
    shot(page, f"{name}-heard-wide-light")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    return pathlib.Path(download.value.path())


def job_of(page):
    """The id of the open job."""
    return re.search(r"#/job/([0-9A-Za-z-]+)", page.url)[1]


def needs(site, path):
    """Skips the test if the server lacks an operation."""
    import pytest
    with urllib.request.urlopen(f"{site.url}v1/openapi.json", timeout=10) as answer:
        if path not in json.load(answer)["paths"]:
            pytest.skip(f"this server has no {path}")
