"""The site of the documentation: it is built without a warning, each link leads somewhere, nothing comes from elsewhere, and the
search finds a word without a server."""

import html.parser
import os
import pathlib
import re
import urllib.parse

import pytest
from page import Browser
from service import PROGRAMS, ROOT, check, equal, run

pytestmark = [pytest.mark.release]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "audio": "src", "video": "src"}


class Page(html.parser.HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        if found.get(LOADED.get(tag)):
            self.loaded.append(found[LOADED[tag]])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    run(ROOT / "Tools/make-site", folder, environment=os.environ | {"PROGRAMS": str(PROGRAMS)}, seconds=300)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def target(page, link):
    """The file and the anchor that a link of a page leads to; no file for an address elsewhere."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None, None
    path = page.parent / urllib.parse.unquote(parts.path) if parts.path else page
    return pathlib.Path(os.path.normpath(path)), urllib.parse.unquote(parts.fragment)


def test_each_link_of_the_site_leads_to_a_file_and_an_anchor(site, pages, figures):
    links, wrong = 0, []
    for path, page in pages.items():
        for link in page.links:
            found, anchor = target(path, link)
            if found is None:
                continue
            links += 1
            if not (found.is_file() and found.is_relative_to(site)):
                wrong.append(f"{path.name}: {link}")
            # Scripts of the theme answer `#` alone.
            elif anchor and found in pages and anchor not in pages[found].anchors:
                wrong.append(f"{path.name}: no anchor {link}")
    equal(wrong, [], "links that lead nowhere")
    check(links > 5000, f"only {links} links")
    sources = [path for path in (ROOT / "docs").rglob("*.md")]
    missing = [str(path) for path in sources if not (site / path.relative_to(ROOT / "docs")).with_suffix(".html").is_file()]
    equal(missing, [], "pages of docs that the site lacks")
    figures(f"{links} links in {len(pages)} pages, {len(sources)} of them from docs")


def test_the_site_loads_nothing_from_elsewhere(site, pages, figures):
    loaded = set()
    for path, page in pages.items():
        for link in page.loaded:
            found, _ = target(path, link)
            check(found and found.is_file(), f"{path.name} loads {link}")
            loaded.add(found)
    for path in site.rglob("*.css"):
        for link in re.findall(r"""(?:url\(\s*|@import\s+)['"]?([^'")\s;]+)""", path.read_text()):
            if not link.startswith(("data:", "url(")):
                found, _ = target(path, link)
                check(found and found.is_file(), f"{path.name} loads {link}")
                loaded.add(found)
    for path in site.rglob("*.js"):
        check(not re.search(r"""^import .+ from|\bimport\(""", path.read_text(), re.MULTILINE), f"{path.name} imports a module")
    figures(f"{len(loaded)} files, all of the site")


def test_the_search_finds_a_word_without_a_server(site, figures):
    browser, asked = Browser(), []
    try:
        context = browser.chromium.new_context()
        context.set_default_timeout(15000)
        context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
        page = context.new_page()
        page.on("pageerror", lambda error: browser.complaints.append(str(error)))
        page.goto((site / "index.html").as_uri())
        found = {}
        for word, title in (("doorbell", "Architecture"), ("confirm", "Reference of the HTTP API"), ("noeviction", "Set up Redis")):
            page.fill("input[name=q]", word)
            page.press("input[name=q]", "Enter")
            result = page.locator("#search-results li a", has_text=title).first
            result.wait_for()
            found[word] = page.locator("#search-results li").count()
            result.click()
            page.wait_for_selector("article h1")
            check(word in page.inner_text("article").lower(), f"the page {page.url} does not have the word {word}")
        # The scripts of the theme run.
        theme = page.locator("body").get_attribute("data-theme")
        page.locator(".theme-toggle:visible").first.click()
        check(page.locator("body").get_attribute("data-theme") != theme, "the theme does not change")
        equal(browser.complaints, [], "errors of scripts")
        equal([url for url in asked if not url.startswith(site.as_uri())], [], "requests to elsewhere")
    finally:
        browser.close()
    figures(", ".join(f"{word}: {count} pages" for word, count in found.items()))
