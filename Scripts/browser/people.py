"""Functions shared by the tests of the page of `feed serve`."""

import inspect
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error

WIDE = {"width": 1280, "height": 900}
began = time.monotonic()

# What the browser itself measures: when the largest thing was there, what moved, and what kept the page busy.
MEASURE = """
    const seen = { largest: 0, moved: 0, longest: 0 }, rest = [];
    const watch = (type, take) => {
        const observer = new PerformanceObserver((list) => list.getEntries().forEach(take));
        observer.observe({ type, buffered: true });
        rest.push(() => observer.takeRecords().forEach(take));
    };
    window.measured = () => { for (const one of rest) one(); return seen; };
    watch("largest-contentful-paint", (entry) => { seen.largest = entry.startTime; });
    watch("layout-shift", (entry) => { if (!entry.hadRecentInput) seen.moved += entry.value; });
    watch("longtask", (entry) => { seen.longest = Math.max(seen.longest, entry.duration); });
"""


def expect(what, value, wanted=True):
    if value != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, but found {value!r}")
    print(f"ok {time.monotonic() - began:5.1f} s: {what}", flush=True)


def awaited(page, read, is_wanted, seconds=30):
    """What a function returns, or an expression of the page, once it is wanted; after the time, the last value."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            value = read() if callable(read) else page.evaluate(read)
        except Error as error:
            # A page that is being replaced answers nothing.
            value = error
        if is_wanted(value) or time.monotonic() > deadline:
            return value
        # Meanwhile, Playwright hears of the page's new URL, and its routes are called.
        page.wait_for_timeout(30)


def becomes(page, what, read, wanted=True):
    """Expects it within 30 s: what follows an action comes later, in an event, an answer or a frame."""
    expect(what, awaited(page, read, lambda value: value == wanted), wanted)


def until(page, read, seconds=30):
    """Waits until it is true, and returns it. Playwright's own wait is refused by the page's policy."""
    value = awaited(page, read, lambda value: value and not isinstance(value, Error), seconds)
    if not value or isinstance(value, Error):
        words = read if isinstance(read, str) else inspect.getsource(read).strip()
        raise AssertionError(f"not true within {seconds} s, but {value!r}: {words}")
    return value


def drawn(page):
    """Waits until what has happened is drawn, and the tasks that were waiting have run."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")


def measured(page):
    """What MEASURE has seen so far."""
    drawn(page)
    return page.evaluate("measured()")


def at_rest(page, expression):
    """Waits until it has been the same for a few frames."""
    before, same = None, 0
    deadline = time.monotonic() + 30
    while same < 5:
        drawn(page)
        value = page.evaluate(expression)
        before, same = value, same + 1 if value == before else 0
        if time.monotonic() > deadline:
            raise AssertionError(f"still changing after 30 s: {expression}")


class Gallery:
    """A `feed serve`, which can be ended and begun again on its port."""

    def __init__(self, program, *arguments):
        self.command = [program, "serve", "--every", "200ms", *arguments]
        self.port = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen([*self.command, "--port", str(self.port)], stdout=subprocess.PIPE, text=True)
        self.printed = self.process.stdout.readline().strip()
        if not self.printed:
            raise AssertionError(f"no URL was printed by {' '.join(self.process.args)}")
        self.address = self.printed.split("?")[0]
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.process.stdout.close()

    def text(self, path):
        return urllib.request.urlopen(f"{self.address}{path}").read().decode()

    def count(self):
        """The number of images that it has."""
        return sum(int(value) for value in re.findall(r"^feed_images{.*} (\d+)$", self.text("metrics"), re.MULTILINE))

    def ready(self):
        """Waits until each feed was loaded again: what the first load brought is on the page by then."""
        while re.search(r"^feed_checks_total{.*} [012]$", self.text("metrics"), re.MULTILINE):
            time.sleep(0.05)


class People:
    """Visitors, and what their browsers complained of."""

    def __init__(self, browser, screenshots, looks):
        self.browser = browser
        self.looks = looks
        self.screenshots = screenshots
        self.complaints = []
        self.differences = []
        self.pages = []

    def page(self, home, context=None, **options):
        """A page that may ask `home` alone, and run what is its own."""
        complaints = self.complaints
        page = (context or self.browser.new_context(**{"viewport": WIDE, **options})).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda asked: None if asked.url.startswith(home) else complaints.append(asked.url))
        self.pages.append(page)
        return page

    def visit(self, address, home=None, **options):
        page = self.page(home or address.split("?")[0], **options)
        page.goto(address)
        page.wait_for_selector("#gallery > li")
        return page

    def leave(self, page):
        self.pages.remove(page)
        page.context.close()

    def keep(self, page, name):
        """A screenshot, once the images are there and nothing moves."""
        # An image is complete before the script hears of it; an enlarged one covers its thumbnail until then.
        seen = "one => { const place = one.getBoundingClientRect(); return place.top < innerHeight && place.bottom > 0; }"
        until(
            page, f"[...document.querySelectorAll('#gallery .image')].filter({seen}).every(one => one.matches('.loaded, .missing'))"
            " && !document.querySelector('.missing .reason:empty, #stage .thumb + img:not(.missing)')"
            " && [...document.querySelectorAll('#stage img')].every(one => one.complete)"
            " && document.getAnimations().length === 0")
        drawn(page)
        page.screenshot(path=f"{self.screenshots}/{name}.png")

    def same(self, page, name, *hides):
        """The page looks as it is stored, but for its ages, for what moves, and for what else is hidden."""
        # A mask covers what lies above its element, too.
        inside = "dialog[open] " if page.locator("dialog[open]").count() else ""
        hidden = [page.locator(inside + one) for one in ("time", "li:has(.badge) .image", *hides)]
        screenshot = page.screenshot(mask=hidden, animations="disabled")
        if difference := self.looks.compare(name, screenshot):
            self.differences.append(difference)

    def accessible(self, page, name):
        found = Axe().run(page).response["violations"]
        expect(f"axe-core finds no violations: {name}", [(one["id"], one["nodes"][0]["html"]) for one in found], [])

    def failed(self):
        """The last page that was looked at."""
        if self.pages:
            self.pages[-1].screenshot(path=f"{self.screenshots}/failure.png")
            print(f"see {self.screenshots}/failure.png", file=sys.stderr)


def cards(page):
    return page.locator("#gallery > li").count()


def status(address, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code
