"""The page of `feed serve`: its paints, layout shifts, bytes, and longest task with 1,000 images; the memory of the process
with 1,000 and 10,000; the time from an item's appearance at its origin to its image on the page; and 1,000 streams of events,
from clients that only read. Prints the tables of RESULTS.md."""

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
from people import MEASURE, WIDE, Gallery, cards, until  # noqa: E402

IMAGES = 1_000
FEEDS = 10
CLIENTS = 1_000
VISITS = 11
SHOWN = ("[...document.querySelectorAll('#gallery img')].filter(one => one.getBoundingClientRect().top < innerHeight)"
         ".every(one => one.complete)")
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
    paints, largest, moved, page_bytes, image_bytes = [], [], [], 0, 0
    for _ in range(VISITS):
        page = browser.new_context(viewport=WIDE).new_page()
        page.add_init_script(MEASURE)
        page.goto(gallery.address, wait_until="load")
        while not (paint := page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")):
            page.wait_for_timeout(20)
        paints.append(paint)
        # What is far below the window isn't requested.
        until(page, SHOWN)
        page.wait_for_timeout(300)
        largest.append(page.evaluate("seen.largest"))
        moved.append(page.evaluate("seen.moved"))
        sizes = page.evaluate(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".map(one => [new URL(one.name).pathname, one.transferSize])")
        page_bytes = sum(size for path, size in sizes if not path.startswith("/image/"))
        image_bytes = sum(size for path, size in sizes if path.startswith("/image/"))
        page.context.close()
    return paints, largest, moved, page_bytes, image_bytes


def scroll(browser, gallery, images, step="scrollBy(0, innerHeight)"):
    """Through all images, by default as a person does, so that each is seen: the seconds, and the longest task in ms."""
    page = browser.new_context(viewport=WIDE).new_page()
    page.add_init_script(MEASURE)
    page.goto(gallery.address)
    begin = time.monotonic()
    while True:
        page.evaluate(step)
        page.wait_for_timeout(50)
        if cards(page) >= images and page.evaluate("scrollY + innerHeight >= document.body.scrollHeight - 2"):
            break
    until(page, SHOWN)
    longest = page.evaluate("seen.longest")
    page.context.close()
    return time.monotonic() - begin, longest


def arrivals(browser, gallery, origin):
    """The milliseconds from the poll's request for the feed with a new item, until its image is on the page."""
    page = browser.new_context(viewport=WIDE).new_page()
    page.goto(gallery.address)
    until(page, "events?.readyState === EventSource.OPEN")
    times = []
    for number in range(20):
        title = f"Arrival {number}"
        polls = origin.asked.count("/feed.json")
        origin.add(title)
        while origin.asked.count("/feed.json") == polls:
            time.sleep(0.001)
        begin = time.monotonic()
        page.evaluate("scrollTo(0, 0)")
        while not page.evaluate(
                f"[...document.querySelectorAll('#gallery img')].some(one => one.alt === '{title}' && one.complete && one.naturalWidth)"):
            button = page.query_selector("#news:not([hidden])")
            if button and button.is_visible():
                button.click()
            time.sleep(0.005)
        times.append((time.monotonic() - begin) * 1000)
    page.context.close()
    return times


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
    paints, largest, moved, page_bytes, image_bytes = visits(browser, gallery)
    for name, times in ("first contentful paint", paints), ("largest contentful paint", largest):
        print(f"| {name}: median, worst of {VISITS} | {statistics.median(times):.0f} ms, {max(times):.0f} ms |")
    print(f"| layout shift, worst of these | {max(moved):.4f} |")
    print(f"| bytes of a first visit: page, style, script and icon; images | {page_bytes / 1e3:.1f} kB; {image_bytes / 1e3:.0f} kB |")
    times = arrivals(browser, gallery, origin)
    print("| a new item, from the poll's request at the origin until its image is on the page: median, worst of 20 | "
          f"{statistics.median(times):.0f} ms, {max(times):.0f} ms |")
    seconds, longest = scroll(browser, gallery, IMAGES)
    print(f"| scrolling through all of them; the longest task of that | {seconds:.1f} s; {longest:.0f} ms |")
    print(f"| memory after that: now, at most | {memory(gallery.process):.0f} MB, {memory(gallery.process, 'VmHWM'):.0f} MB |")
    streams(gallery, origin)
    gallery.stop()

    gallery = Gallery(program, "--cache", f"{folder}/many.db", "--every", "10s",
                      *(f"http://127.0.0.1:{origin.port}/many/{number}.json" for number in range(FEEDS)))
    while gallery.count() < FEEDS * 1_000:
        time.sleep(0.1)
    print(f"| memory with {FEEDS} feeds of 1,000 images, when they are loaded | {memory(gallery.process):.0f} MB |")
    seconds, longest = scroll(browser, gallery, FEEDS * 1_000, "scrollTo(0, document.body.scrollHeight)")
    print(f"| jumping to the end until all are on the page; the longest task of that | {seconds:.1f} s; {longest:.0f} ms |")
    print(f"| memory after that: now, at most | {memory(gallery.process):.0f} MB, {memory(gallery.process, 'VmHWM'):.0f} MB |")
    gallery.stop()
    browser.close()
    origin.stop()
