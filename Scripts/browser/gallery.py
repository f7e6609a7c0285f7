"""Visits the page of `feed serve` as people do."""

import shutil
import signal
import subprocess
import sys
import tempfile

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from origin import Origin

program, pictures = sys.argv[1:3]
descriptions = [
    ("A harbour in the morning", "Stralsund, Germany"),
    ("Two cats on a wall", "Kyōto"),
    ("Snow on the pass, and nobody about for a very long way in any direction", "Passo Giau, Italy"),
    (None, None),
    ("Low tide", "Mont-Saint-Michel"),
    ("<img src=x onerror=alert(1)> & \"quotes\"\u202e evil", "<script>alert(1)</script>"),
    ("Market on a Saturday", "Oaxaca"),
]


def expect(what, value, wanted=True):
    if value != wanted:
        sys.exit(f"{what}: {value!r}, and {wanted!r} was expected")
    print(f"ok: {what}", flush=True)


class Gallery:
    """A `feed serve`, which can be ended and begun again on its port."""

    def __init__(self, origin, folder):
        self.arguments = ["--every", "200ms", "--cache", f"{folder}/feeds.db", f"http://127.0.0.1:{origin.port}/feed.json"]
        self.port = 0
        self.start()

    def start(self):
        command = [program, "serve", "--port", str(self.port)] + self.arguments
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def visit(browser, gallery, said, **options):
    page = browser.new_context(**options).new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if "Content Security" in message.text else None)
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith(gallery.address) else None)
    page.goto(gallery.address)
    page.wait_for_selector("#gallery > li")
    return page


def cards(page):
    return page.locator("#gallery > li").count()


def accessible(page, name):
    found = Axe().run(page).response["violations"]
    expect(f"axe-core finds nothing: {name}", [(one["id"], one["nodes"][0]["html"]) for one in found], [])


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    origin = Origin()
    for number in range(1000):
        origin.add(*descriptions[number % len(descriptions)])
    origin.add("Not a picture", address=f"http://127.0.0.1:{origin.port}/page")
    gallery = Gallery(origin, folder)
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox"])
    said = []
    wide = {"width": 1280, "height": 900}

    page = visit(browser, gallery, said, viewport=wide)
    expect("a first visit shows sixty pictures", cards(page), 60)
    page.wait_for_selector(".missing")
    expect("a picture that is none says so", page.locator(".missing").count(), 1)
    page.wait_for_load_state("load")
    page.screenshot(path=f"{pictures}/light.png")
    accessible(page, "light")

    origin.add("Just arrived", "Lisbon")
    page.wait_for_selector("text=Just arrived")
    expect("a new picture comes first", page.locator("#gallery > li").first.inner_text().startswith("Just arrived"))

    origin.stop()
    page.wait_for_selector("#bar:has-text('is away')")
    expect("a server that is away is named", page.locator("#bar").is_visible())
    page.screenshot(path=f"{pictures}/away.png")
    origin.start()
    page.wait_for_selector("#bar", state="hidden")
    expect("a server that is back is not", page.locator("#bar").is_visible(), False)

    gallery.stop()
    page.wait_for_selector("#bar:has-text('has lost its server')")
    origin.add("Arrived meanwhile", "Porto")
    gallery.start()
    page.wait_for_selector("text=Arrived meanwhile", timeout=20_000)
    expect("a page that was alone catches up", page.locator("#bar").is_visible(), False)

    for _ in range(40):
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(150)
    expect("a thousand pictures are scrolled through", cards(page), 1003)
    expect("each is there once", page.evaluate("new Set([...document.querySelectorAll('#gallery > li')].map(c => c.id)).size"), 1003)

    page.goto(gallery.address)
    page.keyboard.press("Tab")
    expect("the keyboard begins with a way past the header", page.evaluate("document.activeElement.className"), "skip")
    page.locator("#gallery a").first.focus()
    columns = page.evaluate("getComputedStyle(document.getElementById('gallery')).gridTemplateColumns.split(' ').length")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    place = "[...document.querySelectorAll('#gallery > li')].indexOf(document.activeElement.closest('li'))"
    expect("arrow keys lead from picture to picture", page.evaluate(place), columns + 1)
    expect("as many columns as fit", columns >= 4)

    dark = visit(browser, gallery, said, viewport=wide, color_scheme="dark")
    dark.wait_for_timeout(1000)
    dark.screenshot(path=f"{pictures}/dark.png")
    accessible(dark, "dark")
    narrow = visit(browser, gallery, said, viewport={"width": 360, "height": 740})
    narrow.wait_for_timeout(1000)
    narrow.screenshot(path=f"{pictures}/narrow.png")
    expect("nothing is wider than a telephone", narrow.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    accessible(narrow, "narrow")
    health = visit(browser, gallery, said, viewport=wide)
    health.goto(gallery.address + "health")
    health.screenshot(path=f"{pictures}/health.png")
    accessible(health, "health")

    plain = visit(browser, gallery, said, viewport=wide, java_script_enabled=False)
    plain.click("#more")
    expect("without a script there are further pages", (cards(plain), "from=60" in plain.url), (60, True))
    expect("nothing was run, and nobody else was asked", said, [])
    browser.close()
    gallery.stop()
    origin.stop()
