"""Photographs of 2 MB, which don't fit into the budget of images: the number of them that are saved, and shown on the page
while their server is unreachable. Prints two rows of a table."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PER_FEED = 40


def make(folder):
    """Makes different photographs: clouds of several sizes, with the noise of a camera."""
    import numpy
    from PIL import Image

    os.makedirs(folder + ".new")
    random = numpy.random.default_rng(3)
    for number, (width, height) in enumerate([(4000, 3000), (3000, 4000), (4000, 2667)] * 4):
        photo = numpy.zeros((height, width, 3))
        for octave, scale in enumerate([4, 16, 64, 256, 1000]):
            size = (scale * height // 4000, scale * width // 4000, 3)
            cloud = Image.fromarray((random.random(size) * 255).astype("uint8"))
            photo += numpy.asarray(cloud.resize((width, height), Image.BICUBIC)).astype(float) / 1.8**octave
        photo = photo / photo.max() * 255 + random.normal(0, 4, (height, width, 1))
        Image.fromarray(photo.clip(0, 255).astype("uint8")).save(f"{folder}.new/{number}.jpg", quality=88)
    os.rename(folder + ".new", folder)


class Origin(http.server.ThreadingHTTPServer):
    """Feeds of photographs. Each photograph has its own URL and its own bytes: its URL is a comment in its file."""

    def __init__(self, folder, count):
        self.photos = []
        for name in sorted(os.listdir(folder)):
            with open(f"{folder}/{name}", "rb") as file:
                self.photos.append(file.read())
        self.count = count
        self.asked = set()
        self.sent = 0
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def feeds(self):
        return [f"http://127.0.0.1:{self.server_port}/{first}.json" for first in range(0, self.count, PER_FEED)]

    def feed(self, first):
        home = f"http://127.0.0.1:{self.server_port}"
        items = [{"id": str(number), "title": f"Photograph {number}", "image": f"{home}/{number}.jpg",
                  "date_published": f"2026-01-{1 + number % 28:02}T00:00:00Z"}
                 for number in range(first, min(first + PER_FEED, self.count))]
        return json.dumps(
            {"version": "https://jsonfeed.org/version/1.1", "title": f"From {first}", "items": items}).encode()

    def photo(self, path):
        photo, comment = self.photos[int(path[1:-4]) % len(self.photos)], path.encode()
        self.asked.add(path)
        self.sent += len(photo)
        return photo[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + photo[2:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.server.feed(int(self.path[1:-5])) if self.path.endswith(".json") else self.server.photo(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def reach(count, number, what):
    """Waits until a number is at least `count`; fails if it doesn't grow for a minute."""
    last, deadline = None, 0
    while (value := number()) < count:
        if value != last:
            last, deadline = value, time.monotonic() + 60
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: {value} of {count}, and none in the last minute")
        time.sleep(0.1)


def shown(browser, address, count, **options):
    """The numbers of images that a page shows, and of those that it can't show, once it was scrolled through."""
    from people import cards, until

    page = browser.new_context(**options).new_page()
    page.goto(address)

    def scrolled():
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(50)
        return cards(page)

    reach(count, scrolled, "photographs on the page")
    for number in range(0, count, 5):
        page.evaluate(f"document.querySelectorAll('#gallery > li')[{number}].scrollIntoView()")
        page.wait_for_timeout(50)
    until(page, "[...document.querySelectorAll('#gallery img')].every(one => one.complete)")
    page.wait_for_timeout(1000)
    return (page.evaluate("[...document.querySelectorAll('#gallery img')].filter(one => one.naturalWidth > 0).length"),
            page.locator("#gallery .missing").count())


def main(program, folder, count):
    sys.path.insert(0, f"{os.path.dirname(__file__)}/../Scripts/browser")
    from people import Gallery
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as work:
        origin = Origin(folder, count)
        arguments = ["--every", "1h", "--cache", f"{work}/feeds.db", "--images-ahead", str(min(count, 2000)), *origin.feeds()]
        gallery = Gallery(program, *arguments)
        began = time.monotonic()
        try:
            reach(count, lambda: len(origin.asked), "photographs loaded ahead")
        except AssertionError:
            gallery.stop()
            raise
        # The last ones are made smaller.
        time.sleep(15)
        took = time.monotonic() - began - 15
        origin.shutdown()
        origin.server_close()
        gallery.stop()
        saved = subprocess.run(
            [program, "cache", "images", "--cache", f"{work}/feeds.db"], capture_output=True, text=True).stdout.strip()
        gallery = Gallery(program, *arguments)
        reach(count, gallery.count, "photographs listed")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox"])
            wide = shown(browser, gallery.address, count, viewport={"width": 1440, "height": 900})
            phone = shown(
                browser, gallery.address, count, viewport={"width": 390, "height": 844}, device_scale_factor=3)
            browser.close()
        gallery.stop()
    size = origin.sent / count / 1e6
    print(f"| {count:,} photographs of {size:.1f} MB, loaded ahead in {took:.0f} s: {saved.split(', in ')[0]} | |")
    print(f"| shown while their server is unreachable, at 1440 pixels; on a phone with three times as many pixels; of {count:,} "
          f"| {wide[0]:,}; {phone[0]:,} |")
    if (wide, phone) != ((count, 0), (count, 0)):
        sys.exit(f"missing: {wide[1]} and {phone[1]}")


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        make(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
