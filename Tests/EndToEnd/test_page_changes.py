"""What operators change on the page of `respool serve`: schedules by the keyboard alone, limits, callbacks; and what they see of it."""

import http.server
import json
import re
import threading
import urllib.request

import pytest
from page import HOSTILE, Site, check_accessible, check_clean, check_width, needs, shot
from service import check, equal, until

pytestmark = [pytest.mark.long]


@pytest.fixture
def site(service):
    site = Site(service)
    needs(site, "/v1/schedules/{schedule}")
    return site


def schedules(service):
    return {one["name"]: one for one in map(json.loads, service.respool("schedule", "list", "--json").splitlines())}


def reach(page, name, within="main"):
    """Presses Tab until the button of that name has the focus."""
    wanted = page.locator(within).get_by_role("button", name=name, exact=True).first
    wanted.wait_for()
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}")


def test_a_schedule_is_changed_by_the_keyboard_alone(service, site, browser, expect):
    page = browser.page(site.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.keyboard.type("gs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")
    reach(page, "Add a schedule…")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Format")).to_contain_text("mp3")
    check_accessible(page, "the form of a schedule")
    for text in ("news", "0 6 * * MON-FRY", "Europe/Berlin", "https://example.org/{date}.wav"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.type("mp3")
    reach(page, "Add", "dialog")
    page.keyboard.press("Enter")
    # The problem is at its field, which has the focus.
    expect(dialog.get_by_label("cron")).to_be_focused()
    expect(dialog.locator('[data-field="cron"] .problem')).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.type("0 6 * * MON-FRI")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator("tbody tr")).to_contain_text("news")
    equal([(one["cron"], one["time_zone"], one["format"]) for one in schedules(service).values()],
          [("0 6 * * MON-FRI", "Europe/Berlin", "mp3")], "the schedule")
    # Another one of the same name is not taken for it.
    reach(page, "Add a schedule…")
    page.keyboard.press("Enter")
    page.keyboard.type("news")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("A schedule of this name exists.")
    page.keyboard.press("Escape")
    reach(page, "Edit…")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("source", exact=False).first).to_have_value("https://example.org/{date}.wav")
    expect(dialog.get_by_label("Format")).to_have_value("mp3")
    expect(dialog.get_by_label("cron")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("@daily")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator("tbody tr")).to_contain_text("@daily")
    equal(len(page.locator("tbody tr ol li").all()), 5, "next times")
    reach(page, "Pause")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_contain_text("paused")
    reach(page, "Resume")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr .state")).to_have_count(0)
    reach(page, "Run now")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("was pushed")
    until("the job is admitted", 20, lambda: schedules(service)["news"]["job"])
    shot(page, "schedules-changed-wide-light")
    reach(page, "Remove…")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Remove the schedule news?")
    check_accessible(page, "the question before a schedule is removed")
    reach(page, "Remove the schedule", "dialog")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no schedule.")).to_be_visible()
    equal(schedules(service), {}, "schedules")
    check_clean(browser, site)


def test_what_is_not_shown_of_a_schedule_is_not_stored(service, site, browser, expect):
    secret = "https://example.org/a.wav?key=secret"
    service.respool("schedule", "add", "news", "@daily", "--source", secret, "--format", "mp3", "--callback", "https://example.org/done?key=secret")
    page = browser.page(f"{site.url}#/schedules")
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog")
    source, callback = (dialog.locator(f'[data-field="{name}"]') for name in ("source", "callback"))
    expect(source.locator("input")).to_have_value("https://example.org/a.wav?…")
    check_accessible(page, "the form of a schedule that is not shown in full")
    requests = []
    page.on("request", lambda request: requests.append(request.method))
    dialog.get_by_label("cron").fill("@hourly")
    for _ in range(2):
        dialog.get_by_role("button", name="Save").click()
        expect(source.locator("input")).to_be_focused()
        expect(source.locator(".problem")).to_contain_text("Enter it in full")
        expect(callback.locator(".problem")).to_contain_text("Enter it again, or remove it")
    # A part of what is shown is not enough, and one of both neither.
    source.locator("input").fill("https://example.org/b.wav?…")
    dialog.get_by_role("button", name="Save").click()
    expect(source.locator("input")).to_be_focused()
    source.locator("input").fill(secret)
    dialog.get_by_role("button", name="Save").click()
    expect(callback.locator("input")).to_be_focused()
    expect(source.locator(".problem")).to_be_hidden()
    check("PUT" not in requests, f"requests: {requests}")
    callback.get_by_role("button").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(page.locator("tbody tr")).to_contain_text("@hourly")
    kept = service.redis("HGET", "respool:{default}:schedule:news", "spec")
    equal(json.loads(kept), {"format": "mp3", "source": secret}, "the fields that are stored")
    check_clean(browser, site)


def test_limits_and_callbacks_are_changed(service, start_worker, audio, site, browser, expect):
    size, theme = "phone", "dark"
    statuses = [410, 204]

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(statuses.pop(0))
            self.end_headers()

        def log_message(self, *_):
            pass

    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    audio("a.wav", 1)
    start_worker(slots=1, callback_secret="whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", allow_output_hosts="127.0.0.1")
    service.completed(service.push({"source": service.source("a.wav"), "format": "flac", "limit_key": "archive.org",
                                    "callback": f"http://127.0.0.1:{receiver.server_address[1]}/done"}), 60)
    page = browser.page(f"{site.url}#/limits", size, theme)
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Set a limit…").click()
    dialog.get_by_label("key").fill(HOSTILE)
    dialog.get_by_label("at once").fill("2")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".problem:visible").first).to_be_visible()
    dialog.get_by_label("key").fill("archive.org")
    dialog.get_by_label("per minute").fill("x")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator('[data-field="rate"] .problem')).to_contain_text("whole number")
    check_accessible(page, f"the form of a limit ({size}, {theme})")
    dialog.get_by_label("per minute").fill("30")
    dialog.get_by_role("button", name="Save").click()
    row = page.locator("tbody tr", has_text="archive.org")
    expect(row).to_contain_text("30")
    equal(json.loads(service.respool("limit", "archive.org", "--json"))["limit"], 2, "the limit")
    row.get_by_role("button", name="Edit…").click()
    dialog.get_by_label("at once").fill("7")
    dialog.get_by_label("per minute").fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("7")
    check_width(page, f"limits ({size})")
    row.get_by_role("button", name="Remove…").click()
    dialog.get_by_role("button", name="Remove the limit").click()
    expect(row).to_have_count(0)
    # The limit of all other keys.
    page.locator("tbody tr", has_text="all other keys").get_by_role("button", name="Edit…").click()
    dialog.get_by_label("at once").fill("5")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("tbody tr", has_text="all other keys")).to_contain_text("5")
    page.goto(f"{site.url}#/callbacks")
    again = page.get_by_role("button", name="Send again")
    expect(page.locator("tbody tr")).to_contain_text("410")
    check_accessible(page, f"callbacks ({size}, {theme})")
    again.click()
    expect(page.locator("tbody tr")).to_contain_text("delivered")
    equal(statuses, [], "answers of the receiver that were not sent")
    check_clean(browser, site)


def test_a_token_that_reads_changes_nothing(service, browser, expect):
    site = Site(service, tokens=["viewer read"])
    service.respool("schedule", "add", "news", "@daily", "--source", "https://example.org/a.wav", "--format", "mp3")
    service.respool("limit", "k", "2")
    page = browser.page(f"{site.url}#/schedules")
    page.get_by_label("Token", exact=True).fill("viewer-secret")
    page.get_by_role("button", name="Open").click()
    for view, text in (("schedules", "news"), ("limits", "k")):
        page.goto(f"{site.url}#/{view}")
        expect(page.locator("tbody")).to_contain_text(text)
        # Buttons come when the page knows what the server has.
        check(page.evaluate("import('/page/api.js').then(({ has }) => has('PUT', '/v1/schedules/{schedule}'))"), "the server changes schedules")
        equal(page.locator("main button").count(), 0, f"buttons in #/{view}")
    check_clean(browser, site)


def test_the_timeline_has_each_attempt_and_the_waits_between_them(service, start_worker, audio, web, browser, expect):
    site = Site(service)
    audio("a.wav", 1)
    # Without this header the wait is drawn at random from 0, and the page may load after the last attempt.
    web.rules["/a.wav"] = {"status": 503, "retry_after": 6}
    start_worker(slots=1, allow_hosts="127.0.0.1")
    job = service.push({"source": f"{web.url}/a.wav", "format": "flac", "attempts": "3"})[0]
    page = browser.page(f"{site.url}#/job/{job}")
    steps = page.locator(".timeline li")
    expect(page.locator(".timeline")).to_contain_text(re.compile("pushed.*#2 failed.*503.*due", re.S))
    web.rules.clear()
    check_accessible(page, "the timeline of a delayed job")
    expect(page.locator(".timeline")).to_contain_text(re.compile("#1 failed.*#2 failed.*waited.*#3 completed.*published", re.S))
    # The last attempt is not told twice.
    kinds = [step.get_attribute("class") for step in steps.all()]
    equal([kind for kind in kinds if kind != "gap"],
          ["step waiting", "step failed", "step failed", "step completed", "step completed"], "steps")
    check_clean(browser, site)


def test_waiting_times_are_drawn_and_listed(service, start_worker, audio, browser, expect):
    site = Site(service)
    audio("a.wav", 1)
    start_worker(slots=1)
    service.completed(service.push(*[{"source": service.source("a.wav"), "format": "flac"}] * 3), 60)
    with urllib.request.urlopen(f"{site.url}v1/counts?hours=1", timeout=10) as answer:
        if "waiting" not in json.load(answer)["hours"][0]:
            pytest.skip("this server counts no waiting times")
    page = browser.page(site.url)
    expect(page.locator("wait-chart svg")).to_have_attribute("aria-label", re.compile("half waited .* s at most, and 95 % .* s at most"))
    page.get_by_text("Waiting times as a table").click()
    expect(page.get_by_role("region", name="Waiting times as a table").locator("tbody tr").first).to_contain_text("3")
    check_accessible(page, "the waiting times")
    check_clean(browser, site)
