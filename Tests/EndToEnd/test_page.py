"""The page of `respool serve` in a headless Chromium: each view, each action, strange texts, lost connections, tokens, keys."""

import gzip
import json
import pathlib
import re
import urllib.error
import urllib.request

import pytest
from page import HOSTILE, SIZES, THEMES, Site, check_accessible, check_clean, check_width, convert_dropped, job_of, needs, shot, take_uploads
from service import check, equal, until

pytestmark = [pytest.mark.long]


def prepare(service, audio, start_worker):
    """Jobs of all kinds, a group, a schedule, a limit and a callback."""
    audio("talk.wav", 20)
    audio("music.flac", 60, channels=2)
    pathlib.Path(service.sources, "broken.wav").write_bytes(bytes(range(256)) * 20)
    worker = start_worker(slots=2, callback_secret="whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz")
    done = service.push(
        {"source": service.source("talk.wav"), "format": "mp3", "start": "5", "end": "10", "group": "news", "loudness": "-16"},
        {"source": service.source("music.flac"), "format": "opus", "group": "news", "limit_key": "music",
         "callback": "http://127.0.0.1:9/done"},
        {"source": service.source("broken.wav"), "format": "flac"})
    service.wait(done, 120)
    service.respool("schedule", "add", "morning", "0 6 * * MON-FRI", "--source", service.source("talk.wav"), "--format", "opus")
    service.respool("limit", "music", "2", "--rate", "60")
    late = service.push({"source": service.source("talk.wav"), "format": "wav", "delay": "3000"})
    return done, late[0], worker


# Widths do not depend on the theme, nor colors on the size.
@pytest.mark.parametrize(("size", "theme"), list(zip(SIZES, THEMES)), ids=lambda value: value)
def test_each_view_shows_its_data_without_a_violation(service, start_worker, audio, site, browser, expect, size, theme, figures):
    done, late, _ = prepare(service, audio, start_worker)
    page = browser.page(site.url, size, theme)
    views = {
        "": "Completed in 24 h", "jobs": "broken.wav", "jobs?state=failed": "unsupported_format", f"job/{done[0]}": "SHA-256",
        f"job/{done[2]}": "unsupported_format", f"job/{late}": "delayed", "push": "redis-cli", f"push?job={done[0]}": "Copy",
        "workers": "last heartbeat", "groups": "news", "groups/news": "Sealed", "schedules": "morning",
        "callbacks": "http://127.0.0.1:9/done", "limits": "music", "more": "Workers",
    }
    names = {"": "overview", "jobs?state=failed": "jobs-failed", f"job/{done[0]}": "job", f"job/{done[2]}": "job-failed",
             f"job/{late}": "job-delayed", f"push?job={done[0]}": "push-again", "groups/news": "group"}
    for view, text in views.items():
        page.goto(f"{site.url}#/{view}")
        expect(page.locator("main")).to_contain_text(text)
        # What is read after the text that was waited for.
        expect(page.locator(".skeleton")).to_have_count(0)
        name = names.get(view, view)
        shot(page, f"{name}-{size}-{theme}")
        check_width(page, f"#/{view} ({size})")
        check_accessible(page, f"#/{view} ({size}, {theme})")
    check(page.evaluate("document.querySelectorAll('*').length") < 1500, "the document has too many elements")
    check_clean(browser, site)
    figures(f"axe found nothing in {len(views)} views, {size}, {theme}")


def test_files_are_cached_compressed_and_restricted(site, figures):
    def fetch(path, **headers):
        request = urllib.request.Request(site.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.status, answer.headers, answer.read()

    status, headers, plain = fetch("")
    equal((status, headers["content-type"]), (200, "text/html; charset=utf-8"), "the page")
    check("require-trusted-types-for 'script'" in headers["content-security-policy"], "the page has no strict policy")
    equal(headers["cache-control"], "no-cache", "the caching of the page")
    equal(fetch("", **{"If-None-Match": headers["etag"]})[0], 304, "the page a second time")
    names, sizes = set(re.findall(r"page/([\w.]+)", plain.decode())), {}
    loaded = {}
    while left := names - set(sizes):
        name = left.pop()
        status, headers, body = fetch(f"page/{name}", **{"Accept-Encoding": "gzip"})
        equal((status, headers["content-encoding"]), (200, "gzip"), name)
        sizes[name] = len(body)
        text = gzip.decompress(body).decode()
        loaded[name] = set(re.findall(r'^import .*"\./([\w.]+)";$', text, re.M))
        names |= loaded[name] | set(re.findall(r'import\("\./([\w.]+)"\)', text))
    first = {"style.css", "icon.svg", "app.js", "overview.js"}
    while left := set().union(*(loaded[name] for name in first)) - first:
        first |= left
    at_first = sum(sizes[name] for name in first)
    check(sum(sizes.values()) < 100_000 and at_first < 40_000, f"the page has {sum(sizes.values())} bytes, at first {at_first}: {sizes}")
    figures(f"{at_first / 1000:.0f} kB until the overview is seen, {sum(sizes.values()) / 1000:.0f} kB in all, compressed")
    equal(fetch("page/none.js")[0], 404, "a file that does not exist")
    equal(fetch("page/../index.html")[0], 404, "a path with dots")
    equal(fetch("", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})[0], 200, "a link from another page")
    equal(fetch("v1/jobs", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})[0], 403, "data for another page")
    equal(fetch("", Host="evil.example")[0], 403, "the page by a foreign host")


def test_a_violation_of_the_policy_is_refused_and_reported(site, browser, expect):
    page = browser.page(site.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    refused = page.evaluate(
        "() => { try { document.querySelector('h1').innerHTML = '<b>x</b>'; return ''; } catch (error) { return error.name; } }")
    equal(refused, "TypeError", "an assignment of markup")
    until("the report", 10, site.reports)


def test_a_job_is_pushed_changed_and_deleted_by_the_page(service, start_worker, audio, site, browser, expect):
    audio("talk.wav", 20)
    page = browser.page(f"{site.url}#/push")
    page.get_by_label("Source", exact=True).fill(service.source("talk.wav"))
    page.get_by_role("button", name="Podcast").click()
    page.get_by_label("Start").fill("0:05")
    page.get_by_label("End").fill("0:15")
    page.get_by_label("bit_rate", exact=True).fill("999k")
    expect(page.locator(".lines")).to_contain_text("--start 0:05 --end 0:15 --bit-rate 999k --loudness=-16")
    page.get_by_role("button", name="Push", exact=True).click()
    # The problem is at its field.
    field = page.locator('[data-field="bit_rate"]')
    expect(field.locator(".problem")).to_contain_text("does not support bit_rate")
    expect(page.get_by_label("bit_rate", exact=True)).to_be_focused()
    page.get_by_label("bit_rate", exact=True).fill("96k")
    page.get_by_role("button", name="Push", exact=True).click()
    page.get_by_role("link", name="Open it").click()
    state = page.locator(".lead .state")
    expect(state).to_contain_text("waiting")
    first = job_of(page)
    # A waiting job is cancelled, and runs again with another field.
    page.get_by_role("button", name="Cancel…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Cancel 1 job?")
    page.get_by_role("button", name="Cancel the job").click()
    expect(state).to_contain_text("cancelled")
    start_worker(slots=1)
    page.get_by_role("button", name="Retry…").click()
    page.get_by_text("Change fields").click()
    page.get_by_role("dialog").get_by_label("Add a field").select_option("channels")
    page.get_by_role("dialog").get_by_label("channels", exact=True).fill("2")
    page.get_by_role("button", name="Retry the job").click()
    expect(state).to_contain_text("completed")
    expect(page.locator(".output")).to_contain_text("0:10.000")
    equal(service.status([first])[first]["outputs"][0]["channels"], 2, "channels after the retry")
    # The same settings, another range.
    page.get_by_role("link", name="Same settings, another range").click()
    expect(page.get_by_label("Source", exact=True)).to_have_value(service.source("talk.wav"))
    expect(page.get_by_label("Format")).to_have_value("mp3")
    expect(page.get_by_label("bit_rate", exact=True)).to_have_value("96k")
    page.get_by_label("Start").fill("1")
    page.get_by_label("End").fill("2")
    page.get_by_role("button", name="Push", exact=True).click()
    page.get_by_role("link", name="Open it").click()
    expect(state).to_contain_text("completed")
    check(job_of(page) != first, "the same job was opened")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete the job").click()
    expect(page.locator("row-list .row")).to_have_count(1)
    check_clean(browser, site)


def test_many_jobs_are_changed_at_once_after_a_question(service, audio, site, browser, expect):
    audio("a.wav", 1)
    ids = service.push(*[{"source": service.source("a.wav"), "format": "mp3", "group": f"g{n % 2}"} for n in range(12)])
    page = browser.page(f"{site.url}#/jobs?group=g1")
    rows = page.locator("row-list .row")
    expect(rows).to_have_count(6)
    page.get_by_label("Select all loaded jobs").check()
    page.get_by_role("button", name="Cancel…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Cancel 6 jobs?")
    page.get_by_role("button", name="Cancel the jobs").click()
    expect(page.locator("row-list .state.cancelled")).to_have_count(6)
    equal(sum(record["state"] == "cancelled" for record in service.status(ids).values()), 6, "cancelled jobs")
    # Filters are in the address, and survive a reload.
    page.get_by_label("State").select_option("waiting")
    expect(page.get_by_text("No job matches.")).to_be_visible()
    page.get_by_label("Group").fill("g0")
    expect(rows).to_have_count(6)
    page.reload()
    expect(rows).to_have_count(6)
    expect(page.get_by_label("Group")).to_have_value("g0")
    # One is refused, because it changed meanwhile; the others are deleted.
    page.get_by_role("button", name="Clear filters").click()
    expect(rows).to_have_count(12)
    for place in (0, 1, 2):
        rows.nth(place).get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Delete 3 jobs?")
    page.get_by_role("button", name="Delete the jobs").click()
    expect(rows).to_have_count(9)
    # The queue is paused and resumed.
    page.goto(f"{site.url}#/overview")
    page.get_by_role("button", name="Pause the queue").click()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("The queue is paused")).to_be_visible()
    equal(service.redis("HGET", "respool:{default}:meta", "paused") in ("1", 1), True, "the queue is paused")
    page.get_by_role("button", name="Resume the queue").click()
    expect(page.get_by_text("The queue is paused")).to_have_count(0)
    expect(page.get_by_text("No worker is running")).to_be_visible()
    check_clean(browser, site)


def test_strange_texts_appear_as_texts(service, start_worker, audio, site, browser, expect):
    audio("a.wav", 2)
    start_worker(slots=1)
    ids = service.push(
        {"source": f"https://127.0.0.1:9/{HOSTILE}", "format": "mp3", "attempts": "1", "group": "g"},
        {"source": service.source("a.wav"), "format": "mp3", "metadata": json.dumps({"title": HOSTILE, "artist": HOSTILE})},
        {"source": service.source(f"missing {HOSTILE}.wav"), "format": "mp3", "attempts": "1", "limit_key": "k"})
    service.wait(ids, 120)
    service.redis("SET", f"respool:{{default}}:log:{ids[0]}", f"a line {HOSTILE}\n{HOSTILE}")
    page = browser.page(site.url)
    # A field of the page, and the address, hold such texts too.
    views = ["", "jobs", "jobs?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "groups/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "workers",
             *[f"job/{one}" for one in ids], f"push?job={ids[1]}", "job/%3Cimg%20src=x%3E", "%3Cimg%20src=x%3E"]
    for view in views:
        page.goto(f"{site.url}#/{view}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("load")
        expect(page.locator(".skeleton")).to_have_count(0)
        equal(page.locator("main img, main script, main iframe").count(), 0, f"elements made by texts in #/{view}")
        check("broken" != page.title(), f"a script ran in #/{view}")
    page.goto(f"{site.url}#/job/{ids[0]}")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=")
    expect(page.locator(".log")).to_contain_text(f"a line {HOSTILE}")
    page.goto(f"{site.url}#/job/{ids[1]}")
    expect(page.locator("main")).to_contain_text("<script>document.title='broken'</script>")
    page.get_by_role("button", name="Copy as a command").click()
    expect(page.get_by_role("dialog")).to_contain_text("<script>")
    check_clean(browser, site)


def test_a_job_that_was_refused_lists_all_of_its_wrong_fields(service, start_worker, site, browser, expect):
    start_worker(slots=1)
    fields = {"source": f"https://127.0.0.1:9/{HOSTILE}", "format": "mp3", "channels": "0", "gain": HOSTILE, "colour": "red"}
    ids = service.push(fields)
    service.wait(ids, 60)
    page = browser.page(f"{site.url}#/job/{ids[0]}")
    faults = page.locator(".error li")
    expect(faults).to_have_count(3)
    for place, name in enumerate(["channels", "colour", "gain"]):
        expect(faults.nth(place)).to_contain_text(f"`{name}`")
    check_clean(browser, site)


def test_rows_and_a_job_change_without_a_reload(service, start_worker, audio, site, browser, expect):
    audio("a.wav", 3)
    worker = start_worker(slots=1)
    page = browser.page("about:blank")
    page.clock.install()
    page.goto(f"{site.url}#/jobs")
    expect(page.get_by_text("There is no job yet")).to_be_visible()
    page.evaluate("window.mark = 1")
    ids = service.push(*[{"source": service.source("a.wav"), "format": "flac"} for _ in range(3)])
    expect(page.locator("row-list .state.completed")).to_have_count(3)
    late = service.push({"source": service.source("a.wav"), "format": "flac", "delay": "1"})[0]
    page.goto(f"{site.url}#/job/{late}")
    expect(page.locator(".lead .state")).to_contain_text("completed")
    page.goto(f"{site.url}#/overview")
    tile = page.locator(".tile", has_text="Completed in 24 h").locator("strong")
    expect(tile).to_have_text("4")
    service.push({"source": service.source("a.wav"), "format": "flac"})
    expect(tile).to_have_text("5")
    # A tab that is not visible sends nothing, and then shows what it missed.
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.evaluate("""() => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => window.isHidden });
        window.isHidden = true;
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    # What was due is sent.
    page.clock.run_for(30_000)
    requests.clear()
    service.completed(service.push({"source": service.source("a.wav"), "format": "flac"}), 60)
    # An event would have come by now.
    page.wait_for_timeout(300)
    page.clock.run_for(60_000)
    equal(requests, [], "requests of a hidden tab")
    page.evaluate("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    expect(tile).to_have_text("6")
    # A worker that dies is seen.
    worker.popen.kill()
    expect(page.get_by_text("No worker is running")).to_be_visible()
    equal(page.evaluate("window.mark"), 1, "the mark of the first document")
    check(ids, "no job was pushed")
    check_clean(browser, site)


def test_a_lost_connection_comes_back_by_itself(service, site, browser, expect):
    ids = service.push({"source": "https://127.0.0.1:9/a.wav", "format": "mp3"})
    page = browser.page(f"{site.url}#/jobs")
    rows = page.locator("row-list .row")
    expect(rows).to_have_count(1)
    page.evaluate("window.mark = 1")
    site.stop()
    bar = page.locator(".bar")
    expect(bar).to_contain_text("No connection since")
    shot(page, "lost-wide-light")
    check_accessible(page, "the page without its server")
    rows.first.get_by_role("checkbox").check()
    expect(page.get_by_role("button", name="Cancel…")).to_be_disabled()
    expect(rows).to_have_count(1)
    ids += service.push({"source": "https://127.0.0.1:9/b.wav", "format": "mp3"})
    site.start()
    expect(bar).to_be_hidden()
    expect(rows).to_have_count(2)
    # Events go on as well.
    service.push({"source": "https://127.0.0.1:9/c.wav", "format": "mp3"})
    expect(rows).to_have_count(3)
    # Redis away.
    page.goto(f"{site.url}#/overview")
    expect(page.get_by_text("No worker is running")).to_be_visible()
    service.redis.kill()
    expect(bar).to_contain_text("Redis does not respond")
    expect(page.get_by_role("button", name="Pause the queue")).to_be_disabled()
    service.redis.start()
    expect(bar).to_be_hidden()
    expect(page.get_by_role("button", name="Pause the queue")).to_be_enabled()
    equal(page.evaluate("window.mark"), 1, "the mark of the first document")
    check([one for one in browser.complaints if "ERR_" not in one] == [], f"complaints: {browser.complaints}")


def test_a_token_is_asked_for_and_its_role_hides_actions(service, browser, expect):
    site = Site(service, tokens=["viewer read", "pusher push", "boss operate", "tenant operate group=t1-"])
    service.push({"source": "https://127.0.0.1:9/a.wav", "format": "mp3"},
                 {"source": "https://127.0.0.1:9/b.wav", "format": "mp3", "group": "t1-x"})
    page = browser.page(f"{site.url}#/jobs")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This server takes a token.")
    check_accessible(page, "the dialog for the token")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    equal(page.locator("row-list").count(), 0, "lists behind the dialog")
    page.get_by_label("Token", exact=True).fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(dialog).to_contain_text("The token is not valid.")

    def enter_in(tab, name):
        tab.get_by_label("Token", exact=True).fill(f"{name}-secret")
        tab.get_by_role("button", name="Open").click()
        expect(tab.get_by_role("dialog")).to_have_count(0)

    def enter(name):
        enter_in(page, name)

    enter("viewer")
    expect(page.locator("row-list .row")).to_have_count(2)
    equal(page.get_by_role("checkbox").count(), 0, "boxes for a token that reads")
    equal(page.get_by_role("link", name="Push", exact=True).count(), 0, "links to push for a token that reads")
    page.goto(f"{site.url}#/overview")
    expect(page.locator(".tile").first).to_be_visible()
    equal(page.get_by_role("button", name="Pause the queue").count(), 0, "buttons for a token that reads")
    page.goto(f"{site.url}#/push")
    expect(page.get_by_text("Your token does not push jobs.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("viewer (read)")).to_be_visible()
    page.get_by_role("button", name="Forget the token").click()
    enter("pusher")
    expect(page.get_by_label("Source", exact=True)).to_be_visible()
    page.goto(f"{site.url}#/jobs")
    expect(page.locator("row-list .row")).to_have_count(2)
    equal(page.get_by_role("checkbox").count(), 0, "boxes for a token that pushes")
    page.get_by_role("button", name="Forget the token").click()
    enter("tenant")
    expect(page.get_by_text("the token is for groups that begin with t1-")).to_be_visible()
    page.goto(f"{site.url}#/jobs?group=t1-x")
    expect(page.locator("row-list .row")).to_have_count(1)
    # Its events are those of single jobs.
    page.locator("row-list .row a").click()
    expect(page.locator(".lead .state")).to_contain_text("waiting")
    follower = browser.page("about:blank")
    # It does not ask every ten seconds.
    follower.add_init_script("const set = setInterval; window.setInterval = (action, period) => period < 5000 ? set(action, period) : 0;")
    follower.goto(page.url)
    enter_in(follower, "tenant")
    expect(follower.locator(".lead .state")).to_contain_text("waiting")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the job").click()
    expect(page.locator(".lead .state")).to_contain_text("cancelled")
    expect(follower.locator(".lead .state")).to_contain_text("cancelled")
    check("secret" not in open(site.log).read(), "a token is in the log")
    check_clean(browser, site)


def test_the_keyboard_reaches_everything(service, site, browser, expect):
    ids = service.push(*[{"source": f"https://127.0.0.1:9/{n}.wav", "format": "mp3"} for n in range(5)])
    page = browser.page(site.url)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Overview")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading).to_be_focused()
    page.keyboard.type("gj")
    expect(heading).to_have_text("Jobs")
    rows = page.locator("row-list .row")
    expect(rows).to_have_count(5)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 1 job?")
    check_accessible(page, "the dialog of an action")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".lead")).to_be_visible()
    check(job_of(page) in ids, "another job was opened")
    page.keyboard.press("Escape")
    expect(heading).to_have_text("Jobs")
    page.keyboard.press("/")
    expect(page.get_by_label("Search in URL and id")).to_be_focused()
    # In a text, keys are letters.
    page.keyboard.type("gp3.wav")
    expect(page.get_by_label("Search in URL and id")).to_have_value("gp3.wav")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(dialog).to_contain_text("Keys")
    check_accessible(page, "the list of keys")
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.type("gw")
    expect(heading).to_have_text("Jobs")
    check_clean(browser, site)


def test_all_jobs_of_a_filter_are_changed_after_a_question(service, site, browser, expect):
    needs(site, "/v1/jobs/actions")
    ids = service.push(*[{"source": f"https://127.0.0.1:9/{n}.wav", "format": "mp3", "group": f"g{n % 3}", "delay": "9000"}
                         for n in range(300)])
    until("the jobs are admitted", 30, lambda: service.redis("ZCARD", "respool:{default}:delayed") == 300)
    page = browser.page(f"{site.url}#/jobs?group=g1")
    expect(page.get_by_text("All that match:")).to_be_visible()
    page.get_by_role("button", name="Cancel…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 100 jobs")
    expect(dialog).to_contain_text("group=g1")
    check_accessible(page, "the dialog of an action on a filter")
    page.get_by_role("button", name="Cancel the jobs").click()
    expect(page.locator(".notice")).to_have_text("100 jobs cancelled")
    expect(dialog).to_have_count(0)
    expect(page.locator("row-list .state.cancelled").first).to_be_visible()
    states = [record["state"] for record in service.status(ids).values()]
    equal((states.count("cancelled"), states.count("delayed")), (100, 200), "cancelled and delayed jobs")
    check_clean(browser, site)


def test_a_delayed_job_is_run_and_a_worker_is_quieted(service, start_worker, audio, site, browser, expect):
    needs(site, "/v1/jobs/{id}/run")
    audio("a.wav", 2)
    start_worker(slots=1)
    late = service.push({"source": service.source("a.wav"), "format": "flac", "delay": "9000"})[0]
    page = browser.page(f"{site.url}#/job/{late}")
    page.get_by_role("button", name="Run now").click()
    expect(page.locator(".lead .state")).to_contain_text("completed")
    page.goto(f"{site.url}#/workers")
    page.get_by_role("button", name="Quiet").click()
    expect(page.locator("main .state")).to_contain_text("quiet")
    held = service.push({"source": service.source("a.wav"), "format": "flac"})[0]
    page.get_by_role("button", name="Claim again").click()
    service.completed([held], 60)
    check_clean(browser, site)


def test_a_dropped_file_is_cut_heard_and_downloaded(service, start_worker, audio, browser, expect):
    take_uploads(service)
    site = Site(service)
    audio("talk.wav", 20)
    start_worker(slots=1)
    page = browser.page(site.url)
    download = convert_dropped(page, site.url, f"{service.sources}/talk.wav", expect, "push-file")
    equal(download.stat().st_size, service.status([job_of(page)])[job_of(page)]["outputs"][0]["bytes"], "bytes of the download")
    check_clean(browser, site)


def test_what_cannot_be_read_is_said_where_it_belongs(site, browser, expect):
    page = browser.page("about:blank")
    page.route("**/v1/counts*", lambda route: route.fulfill(status=500, content_type="application/problem+json", body='{"detail": "broken"}'))
    page.goto(site.url)
    charts = page.locator(".charts page-part")
    for place in (0, 1):
        expect(charts.nth(place).locator(".problem")).to_contain_text("broken")
    page.unroute("**/v1/counts*")
    for place in (0, 1):
        charts.nth(place).get_by_role("button").click()
        expect(charts.nth(place).locator("table")).to_have_count(1)
    # The module of a view fails when another one is open.
    page = browser.page("about:blank")
    held = []
    page.route("**/page/limits.js", lambda route: held.append(route))
    page.goto(f"{site.url}#/limits")
    until("the module is asked for", 20, lambda: page.wait_for_timeout(50) or held)
    page.goto(f"{site.url}#/schedules")
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")
    with page.expect_event("requestfailed"):
        for route in held:
            route.abort()
    page.wait_for_timeout(100)
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")
    check_clean(browser, site)


def test_a_long_list_has_few_rows_in_the_document(service, site, browser, expect, figures):
    service.push(*[{"source": f"https://127.0.0.1:9/{n}.wav", "format": "mp3", "delay": "9000"} for n in range(1000)])
    until("the jobs are admitted", 60, lambda: service.redis("ZCARD", "respool:{default}:delayed") == 1000)
    page = browser.page(f"{site.url}#/jobs")
    expect(page.locator("row-list .row").first).to_be_visible()
    end = "document.querySelector('row-list').scrollTop = 1e9"
    until("all jobs are loaded", 90, lambda: page.evaluate(end) and "1,000 jobs" == page.locator(".count").inner_text())
    rows, elements = page.locator("row-list .row").count(), page.evaluate("document.querySelectorAll('*').length")
    check(rows < 100 and elements < 1500, f"{rows} rows and {elements} elements in the document")
    equal(page.locator("row-list .row").first.get_attribute("aria-setsize"), "1000", "the size of the list for screen readers")
    check_clean(browser, site)
    figures(f"1,000 rows, {rows} in the document")
