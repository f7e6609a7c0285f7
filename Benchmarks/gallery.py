"""The page of `feed serve` with 1,000 images: its first contentful paint, its bytes, the memory of the process; and 1,000
streams of events, from clients that only read. Prints the tables of RESULTS.md."""

import os
import re
import selectors
import shutil
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, f"{os.path.dirname(__file__)}/../Scripts/browser")
from playwright.sync_api import sync_playwright  # noqa: E402

from origin import Origin  # noqa: E402
from people import WIDE, Gallery, cards  # noqa: E402

IMAGES = 1_000
CLIENTS = 1_000
VISITS = 11
program = sys.argv[1]


def memory(process, field="VmRSS"):
    """MB."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(rf"^{field}:\s+(\d+) kB", status.read(), re.MULTILINE)[1]) / 1024


def used(process):
    """Seconds of processor time."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def visits(browser, gallery):
    paints, page_bytes, image_bytes = [], 0, 0
    for _ in range(VISITS):
        page = browser.new_context(viewport=WIDE).new_page()
        page.goto(gallery.address, wait_until="load")
        while not (paint := page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")):
            page.wait_for_timeout(20)
        paints.append(paint)
        sizes = page.evaluate(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".map(one => [new URL(one.name).pathname, one.transferSize])")
        page_bytes = sum(size for path, size in sizes if not path.startswith("/image/"))
        image_bytes = sum(size for path, size in sizes if path.startswith("/image/"))
        page.context.close()
    return paints, page_bytes, image_bytes


def scroll(browser, gallery):
    page = browser.new_context(viewport=WIDE).new_page()
    page.goto(gallery.address)
    begin = time.monotonic()
    while cards(page) < IMAGES or not page.evaluate("[...document.images].every(one => one.complete)"):
        # As a person does, so that each image is seen.
        page.evaluate("scrollBy(0, innerHeight)")
        page.wait_for_timeout(50)
        if page.evaluate("scrollY + innerHeight >= document.body.scrollHeight - 2") and cards(page) >= IMAGES:
            break
    page.context.close()
    return time.monotonic() - begin


def streams(gallery, origin):
    process = gallery.process
    before, began = memory(process), used(process)
    clients = selectors.DefaultSelector()
    begin = time.monotonic()
    for _ in range(CLIENTS):
        client = socket.create_connection(("127.0.0.1", gallery.port))
        client.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        clients.register(client, selectors.EVENT_READ, bytearray())

    def until(text):
        """The seconds at which each client had read it."""
        waiting = {key.fd for key in clients.get_map().values()}
        times = []
        while waiting:
            for key, _ in clients.select(30):
                key.data.extend(key.fileobj.recv(65536))
                if key.fd in waiting and text in key.data:
                    waiting.remove(key.fd)
                    times.append(time.monotonic())
        return times

    until(b"event: hello")
    print(f"| connecting {CLIENTS:,} clients, until the last has its first event | {time.monotonic() - begin:.2f} s |")
    print(f"| memory for each | {(memory(process) - before) * 1024 / CLIENTS:.1f} KiB |")
    print(f"| processor time of that, of the server | {(used(process) - began) * 1000:.0f} ms |")
    spreads = []
    began = used(process)
    for number in range(20):
        count = gallery.count() + 1
        origin.add(f"For all {number}")
        times = until(f'"images":{count},'.encode())
        spreads.append((times[-1] - times[0]) * 1000)
        for key in clients.get_map().values():
            key.data.clear()
    print(f"| a new image, from the first client that knows to the last: median, worst of 20 | "
          f"{statistics.median(spreads):.1f} ms, {max(spreads):.1f} ms |")
    print(f"| processor time of the server, for each of these 20, with the polls between | "
          f"{(used(process) - began) * 1000 / 20:.0f} ms |")
    for key in list(clients.get_map().values()):
        key.fileobj.close()


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    origin = Origin()
    for number in range(IMAGES):
        origin.add(f"Image {number}", "Somewhere")
    gallery = Gallery(program, "--cache", f"{folder}/feeds.db", f"http://127.0.0.1:{origin.port}/feed.json")
    gallery.ready()
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox"])
    print("| `feed serve`, 1,000 images of 480 × 360, 2.7 KB each | |\n|---|---|")
    print(f"| memory when it has loaded the feed | {memory(gallery.process):.0f} MB |")
    paints, page_bytes, image_bytes = visits(browser, gallery)
    print(f"| first contentful paint: median, worst of {VISITS} | {statistics.median(paints):.0f} ms, {max(paints):.0f} ms |")
    print(f"| bytes until then: page, style, script and icon; images | {page_bytes / 1e3:.1f} kB; {image_bytes / 1e3:.0f} kB |")
    print(f"| scrolling through all of them | {scroll(browser, gallery):.1f} s |")
    browser.close()
    print(f"| memory after that: now, at most | {memory(gallery.process):.0f} MB, {memory(gallery.process, 'VmHWM'):.0f} MB |")
    streams(gallery, origin)
    gallery.stop()
    origin.stop()
