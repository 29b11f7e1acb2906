"""Sound on the page of `respool serve`: a result is compared with its source, and any source is heard before it is pushed."""

import hashlib
import json
import pathlib
import random
import re

import pytest
from page import HOSTILE, Site, check_accessible, check_clean, check_width, needs, shot, take_uploads
from service import check, equal, until
from sound import RATE, encode, ffmpeg, write

pytestmark = [pytest.mark.long]

# Records the elements that play, the gains behind them, and how loud each 512 samples of what is heard are.
RECORDER = """
    window.played = new Set();
    window.gains = [];
    window.blocks = [];
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = function () { window.played.add(this); return play.call(this); };
    const make = BaseAudioContext.prototype.createGain;
    BaseAudioContext.prototype.createGain = function () {
        const gain = make.call(this);
        this.tap ??= this.createScriptProcessor(512, 2, 1);
        this.tap.onaudioprocess = event => {
            const samples = event.inputBuffer.getChannelData(0);
            window.blocks.push(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length));
        };
        gain.connect(this.tap);
        this.tap.connect(this.destination);
        window.gains.push(gain);
        return gain;
    };
"""

# Records all sounds and contexts, and the timers that keep sounds in step.
SOUNDS = """
    window.sounds = [];
    window.contexts = [];
    window.intervals = new Set();
    const make = document.createElement;
    document.createElement = function (name) {
        const element = make.call(this, name);
        if (name === "audio") window.sounds.push(element);
        return element;
    };
    window.AudioContext = class extends AudioContext {
        constructor() {
            super();
            window.contexts.push(this);
        }
    };
    const [set, clear] = [setInterval, clearInterval];
    window.setInterval = (action, period) => {
        const timer = set(action, period);
        if (period === 100) window.intervals.add(timer);
        return timer;
    };
    window.clearInterval = timer => {
        window.intervals.delete(timer);
        clear(timer);
    };
"""

# Watches the position for three seconds: how often it goes back, its least, its most, and the longest time between two looks.
LOOPED = """async () => {
    const begin = performance.now(), seen = [];
    let last = begin, gap = 0;
    while (last < begin + 3000) {
        await new Promise(requestAnimationFrame);
        gap = Math.max(gap, performance.now() - last);
        last = performance.now();
        seen.push(Number(document.querySelector(".clock").textContent.split(" ")[0].split(":")[1]));
    }
    const turns = seen.filter((position, place) => position < seen[place - 1] - 0.3).length;
    return [turns, Math.min(...seen), Math.max(...seen), gap / 1000];
}"""


@pytest.fixture
def site(service):
    take_uploads(service)
    site = Site(service)
    needs(site, "/v1/previews")
    return site


def noise(path, seconds, level=6000):
    """White noise: each moment differs from every other, and none is silent."""
    chance = random.Random(1)
    one = bytes(byte for _ in range(RATE) for byte in round(chance.gauss(0, level / 3)).to_bytes(2, "little", signed=True))
    write(path, one * seconds)


def start(page, expect):
    """Opens the player of the job, and waits until both sides can be heard."""
    page.get_by_role("button", name="Compare with the source").click()
    expect(page.locator(".lane canvas")).to_have_count(2)
    for name in ("A Source", "B Result"):
        expect(page.get_by_role("button", name=name)).to_be_enabled()


@pytest.mark.alone
def test_a_result_is_compared_with_its_source(service, start_worker, site, browser, expect, figures):
    noise(f"{service.sources}/noise.wav", 12)
    start_worker(slots=2)
    ids = service.push({"source": service.source("noise.wav"), "format": "mp3", "bit_rate": "192k", "start": "2", "end": "8", "loudness": "-14"})
    report = service.completed(ids, 60)[ids[0]]["outputs"][0]["loudness"]
    page = browser.page("about:blank")
    page.add_init_script(RECORDER)
    page.goto(f"{site.url}#/job/{ids[0]}")
    start(page, expect)
    times = "[...played].map(audio => audio.currentTime)"
    loud = "gains.map(gain => gain.gain.value)"
    clock = page.locator(".clock")
    # A job of a moment tells no duration, and the last of the 2,400 peaks is a whole one.
    check(re.search(r"/ 0:06\.00[0-3]$", clock.inner_text()), f"the axis ends at {clock.inner_text()}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("a")
    page.keyboard.press("Space")
    until("both sides are in step", 10, lambda: page.evaluate(f"{times}.length === 2 && Math.abs({times}[0] - {times}[1]) < 0.02"))
    # What is heard counts the seconds, however slow the machine is.
    passed = "gains[0].context.currentTime"
    before, begin = page.evaluate(f"blocks.length = 0, [{times}[0], {passed}]")
    # Each key goes to the other side in place.
    for key in "bababa":
        page.keyboard.press(key)
        expect(page.locator(f".side.{key}")).to_have_attribute("aria-pressed", "true")
        pressed = page.evaluate(passed)
        until("the fade has ended", 10, lambda: page.evaluate(passed) > pressed + 0.15)
        levels = page.evaluate(loud)
        equal(sorted(level > 0.01 for level in levels), [False, True], f"sides that are heard after {key}: {levels}")
    after, end, blocks = page.evaluate(f"[{times}[0], {passed}, blocks]")
    ratio = (after - before) / (end - begin)
    check(0.7 < ratio < 1.3, f"the position went from {before} to {after} while {end - begin} s were heard")
    check(min(blocks) > 0.3 * sorted(blocks)[len(blocks) // 2], f"the softest 512 samples around six switches: {min(blocks)} of {len(blocks)}")
    # Blindly, nothing shows which side it is, and the next choice is the guess.
    page.keyboard.press("x")
    expect(page.locator(".side.x")).to_have_attribute("aria-pressed", "true")
    equal(page.locator(".side[aria-pressed=true], .lane.heard").count(), 1, "what shows the side that is heard")
    page.keyboard.press("a")
    expect(page.locator(".transport")).to_contain_text(re.compile("It was [AB]. [01] of 1 right."))
    # The softer side keeps its level, and the louder one is lowered by the difference of the measured loudness.
    page.get_by_label("Same loudness").check()
    page.keyboard.press("b")
    pressed = page.evaluate(passed)
    until("the fade has ended", 10, lambda: page.evaluate(passed) > pressed + 0.15)
    factor = 10 ** ((report["before"]["integrated"] - report["after"]["integrated"]) / 20)
    check(abs(max(page.evaluate(loud)) / factor - 1) < 0.01, f"the gain of the result is {page.evaluate(loud)}, not {factor}")
    # Both play to their ends.
    for key in "ab":
        page.keyboard.press(key)
        box = page.locator("sound-lanes .stage").bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.85, box["y"] + 40)
        if page.get_by_role("button", name="Play", exact=True).count():
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("Space")
            expect(page.get_by_role("button", name="Play", exact=True)).to_have_count(0)
        until(f"{key} has ended", 15, lambda: page.get_by_role("button", name="Play", exact=True).count())
        check(page.evaluate("[...played].some(audio => audio.ended)"), f"{key} did not end")
    # A section is looped.
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.get_by_label("Loop")).to_be_checked()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    turns, least, most, gap = page.evaluate(LOOPED)
    # It looks for the end ten times a second, or as often as the machine lets it.
    check(turns and least > 0.5 and most < 1.4 + 2 * gap, f"the loop of 0.6 to 1.2 s: {turns} turns, {least} to {most} s, frames of {gap} s at most")
    page.keyboard.press("l")
    expect(page.locator(".stage .section")).to_be_hidden()
    # The recorder of this test is one.
    browser.complaints = [one for one in browser.complaints if "ScriptProcessorNode" not in one]
    check_clean(browser, site)
    figures(f"the softest 512 samples around 6 switches have {min(blocks) / sorted(blocks)[len(blocks) // 2]:.2f} of the usual level, "
            f"the position goes {ratio:.2f} as fast as what is heard, {turns} loops in 3 s")


def test_a_view_that_is_left_opens_no_sound(service, start_worker, audio, site, browser, expect):
    audio("plain.wav", 30)
    start_worker(slots=2)
    ids = service.push({"source": service.source("plain.wav"), "format": "mp3"})
    service.completed(ids, 60)
    page = browser.page("about:blank")
    page.add_init_script(SOUNDS)
    # Both sounds wait for their tickets until the view is left.
    tickets = []
    page.route("**/ticket*", lambda route: tickets.append(route))
    page.goto(f"{site.url}#/job/{ids[0]}")
    page.get_by_role("button", name="Listen").click()
    page.get_by_role("button", name="Compare with the source").click()
    until("the tickets are asked for", 60, lambda: page.wait_for_timeout(50) or len(tickets) == 3)
    page.goto(f"{site.url}#/schedules")
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")
    for route in tickets:
        route.continue_()
    until("the sounds are made", 20, lambda: page.evaluate("sounds.length") == 3)
    until("the sounds are released", 20, lambda: page.evaluate(
        "sounds.every(audio => !audio.hasAttribute('src') && audio.networkState === HTMLMediaElement.NETWORK_EMPTY)"))
    equal(page.evaluate("[contexts.length, sounds.filter(audio => !audio.paused).length]"), [0, 0], "contexts, and sounds that play")
    page.unroute("**/ticket*")
    # A player that is stopped or left while it starts stays so.
    page.goto(f"{site.url}#/job/{ids[0]}")
    start(page, expect)
    page.evaluate("document.querySelector('.transport .primary').click(), document.querySelector('.transport .primary').click()")
    page.wait_for_timeout(500)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    equal(page.evaluate("[intervals.size, sounds.filter(audio => !audio.paused).length]"), [0, 0], "timers, and sounds that play")
    page.evaluate("document.querySelector('.transport .primary').click(), location.hash = '#/schedules'")
    expect(page.get_by_role("heading", level=1)).to_have_text("Schedules")
    until("the context is closed", 10, lambda: page.evaluate("contexts.every(context => context.state === 'closed')"))
    equal(page.evaluate("[intervals.size, sounds.filter(audio => !audio.paused).length]"), [0, 0], "timers, and sounds that play")
    check_clean(browser, site)


@pytest.mark.parametrize("size, theme", [("wide", "dark"), ("phone", "light")])
def test_what_a_browser_cannot_play_is_seen_and_compared(service, start_worker, audio, site, browser, expect, size, theme):
    audio("plain.flac", 12)
    tags = pathlib.Path(service.folder, "tags.txt")
    text = HOSTILE.replace("=", "\\=").replace(";", "\\;")
    tags.write_text(f";FFMETADATA1\ntitle={text}\nartist=Somebody\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=5000\ntitle={text}\n"
                    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=5000\nEND=12000\ntitle=The end\n")
    cover = ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x64", "-frames:v", "1", f"{service.folder}/cover.png") or f"{service.folder}/cover.png"
    encode(f"{service.sources}/plain.flac", f"{service.sources}/story.m4a", "-i", cover, "-i", str(tags), "-map", "0:a", "-map", "1",
           "-map_metadata", "2", "-map_chapters", "2", "-c:v", "copy", "-disposition:v", "attached_pic", "-c:a", "aac")
    start_worker(slots=2)
    ids = service.push({"source": service.source("story.m4a"), "format": "alac", "start": "2",
                        "metadata": json.dumps({"artist": "", "genre": HOSTILE})})
    service.completed(ids, 60)
    page = browser.page(f"{site.url}#/job/{ids[0]}", size, theme)
    equal(page.get_by_role("button", name="Listen").count(), 0, "buttons to listen to ALAC")
    start(page, expect)
    expect(page.locator(".strip button")).to_have_count(2)
    expect(page.locator(".strip button").first).to_have_text(HOSTILE)
    names = {"Waveform": ".lane canvas", "Spectrogram": ".lane img", "Tags": ".tags table"}
    for name, place in names.items():
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(place)).to_have_count(2)
        shot(page, f"job-{name.lower()}-{size}-{theme}")
        check_width(page, f"{name} ({size})")
        check_accessible(page, f"{name} ({size}, {theme})")
    rows = page.locator(".tags table").first.locator("tbody tr")
    expect(rows.last).to_contain_text(HOSTILE)
    expect(rows.filter(has_text="genre")).to_contain_text("added")
    expect(rows.filter(has_text=re.compile("title(<|$)|titlesource|^title|tagtitle")).last).to_contain_text(HOSTILE)
    until("both covers are drawn", 10, lambda: page.evaluate(
        "[...document.querySelectorAll('.pictures img')].filter(image => image.naturalWidth === 64).length") == 2)
    equal(page.locator("main script, main iframe").count(), 0, "elements made by texts")
    check("broken" != page.title(), "a script ran")
    check_clean(browser, site)


def test_any_source_is_heard_before_it_is_pushed(service, start_worker, audio, site, browser, expect):
    # Notes of a second with a second of silence between them.
    audio("plain.wav", 1)
    encode(f"{service.sources}/plain.wav", f"{service.sources}/pauses.caf", "-af", "apad=pad_dur=1,aloop=loop=9:size=88200", "-c:a", "alac")
    start_worker(slots=2)
    page = browser.page(f"{site.url}#/push")
    source = page.get_by_label("Source", exact=True)
    hear = page.get_by_role("button", name="Hear the range")
    # A path that does not exist says why.
    source.fill(f"{service.sources}/missing {HOSTILE}.wav")
    page.get_by_role("button", name="Hear it").click()
    expect(page.locator("main .problem:visible")).to_contain_text("exist")
    source.fill(f"{service.sources}/pauses.caf")
    page.get_by_role("button", name="Hear it").click()
    expect(hear).to_be_visible()
    page.get_by_label("Snap to silence").check()
    box = page.locator("wave-range").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.24, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.57, box["y"] + 40, steps=4)
    page.mouse.up()
    # The silences are 1 to 2 s, 3 to 4 s and so on, of 20 s.
    edges = [float(page.get_by_label(name, exact=True).input_value().split(":")[1]) for name in ("Start", "End")]
    check(abs(edges[0] - 5.5) < 0.1 and abs(edges[1] - 11.5) < 0.1, f"the range snapped to {edges}")
    hear.click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    check_accessible(page, "the waveform of a path")
    # Another source has another waveform.
    source.fill("https://example.org/other.wav")
    expect(page.locator("wave-range")).to_have_count(0)
    # A file that the browser cannot decode is drawn when it is uploaded.
    page.locator("input[type=file]").set_input_files(f"{service.sources}/pauses.caf")
    expect(source).to_have_value(re.compile("^upload:"))
    expect(hear).to_be_visible()
    page.get_by_role("button", name="Voice").click()
    page.get_by_role("button", name="Push", exact=True).click()
    page.get_by_role("link", name="Open it").click()
    expect(page.locator(".output")).to_contain_text(re.compile(r"0:0[56]\.\d"))
    check_clean(browser, site)


def test_a_source_that_was_replaced_is_not_heard(service, start_worker, audio, site, browser, expect):
    for name, seconds in (("a.wav", 4), ("b.wav", 6)):
        audio(name, seconds)
    start_worker(slots=2)
    page = browser.page("about:blank")
    page.add_init_script(SOUNDS)
    # The ticket of the first comes after all of the second.
    held = []
    page.route("**/ticket*", lambda route: route.continue_() if held else held.append(route))
    page.goto(f"{site.url}#/push")
    source = page.get_by_label("Source", exact=True)
    hear = page.get_by_role("button", name="Hear the range")
    source.fill(f"{service.sources}/a.wav")
    page.get_by_role("button", name="Hear it").click()
    expect(page.locator("wave-range")).to_be_visible()
    until("the ticket is asked for", 30, lambda: page.wait_for_timeout(50) or held)
    source.fill(f"{service.sources}/b.wav")
    expect(page.locator("wave-range")).to_have_count(0)
    page.get_by_role("button", name="Hear it").click()
    expect(hear).to_be_visible()
    held[0].continue_()
    until("both sounds are made", 20, lambda: page.evaluate("sounds.length") == 2)
    until("the first is released", 20, lambda: page.evaluate("sounds.filter(audio => audio.hasAttribute('src')).length") == 1)
    expect(hear).to_have_count(1)
    hear.click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    equal(page.evaluate("sounds.filter(audio => !audio.paused).map(audio => Math.round(audio.duration))"), [6], "seconds of what is heard")
    check_clean(browser, site)


def test_an_upload_goes_on_where_it_broke(service, browser, expect):
    uploads = take_uploads(service)
    site = Site(service)
    noise(f"{service.sources}/long.wav", 130)
    page = browser.page(f"{site.url}#/push")
    seen, answers = [], iter(["go", "423", "503", "restart", "abort"])

    def answer(route):
        request = route.request
        seen.append(request.method)
        what = next(answers, "go") if request.method == "PATCH" else "go"
        if what == "restart":
            site.stop()
            site.start()
        if what == "abort":
            route.abort()
        elif what in ("423", "503"):
            route.fulfill(status=int(what), content_type="application/problem+json", headers={"Retry-After": "0"},
                          body=json.dumps({"code": "busy", "detail": "wait"}))
        else:
            route.continue_()

    page.route("**/v1/uploads**", answer)
    source = page.get_by_label("Source", exact=True)
    page.locator("input[type=file]").set_input_files(f"{service.sources}/long.wav")
    expect(source).to_have_value(re.compile("^upload:"))
    equal(seen.count("POST"), 1, "uploads that were created")
    check(seen.count("HEAD") >= 3, f"requests: {seen}")
    name = source.input_value().removeprefix("upload:")
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in uploads.iterdir() if name in path.name and path.stat().st_size > 1000]
    equal(sums, [hashlib.sha256(pathlib.Path(service.sources, "long.wav").read_bytes()).hexdigest()], "what was stored")
    # The same file again is there already.
    source.fill("")
    page.locator("input[type=file]").set_input_files([])
    page.locator("input[type=file]").set_input_files(f"{service.sources}/long.wav")
    expect(source).to_have_value(f"upload:{name}")
    equal(seen.count("POST"), 1, "uploads of the same file")
    check([one for one in browser.complaints if "ERR_" not in one] == [], f"complaints: {browser.complaints}")
