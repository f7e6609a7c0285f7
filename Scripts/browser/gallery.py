"""Tests the page of `feed serve` in a browser, as a person uses it."""

import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import traceback
import urllib.request

from playwright.sync_api import sync_playwright

from looks import Looks
from origin import Origin, Wire
from people import MEASURE, Gallery, People, at_rest, becomes, cards, drawn, expect, measured, status, until

program, screenshots = sys.argv[1:3]
renews = "--images" in sys.argv
PLACES = [
    ("A harbour in the morning", "Stralsund, Germany"),
    ("Two cats on a wall", "Kyōto"),
    ("Snow on the pass, and nobody about for a very long way in any direction", "Passo Giau, Italy"),
    (None, None),
    ("Low tide", "Mont-Saint-Michel"),
    ("Market on a Saturday", "Oaxaca"),
]
DIARY = [
    (2, "First light over the ridge"), (17, "The hut, from above"), (50, "Fog in the valley"), (65, "Where the path ends"),
    (190, "A long way down, and the weather that came after it"), (300, "Evening"), (1500, "The other side"),
    (2900, "Before the storm"), (4400, "Larches in October"), (6000, "Dry lake"), (9000, "Pass road, closed"),
    (20000, "Moonrise"),
]
HOSTILE = [
    "<img src=x onerror=alert(1)> & \"quotes\"\u202e evil", "</title></bdi><script>alert(1)</script>", "'\" onfocus=alert(1) x='",
    "long" * 30_000, "\u0000\u0007\u001b[2J", "عربى ‏ على", "{{1+1}} ${alert(1)} &lt;b&gt;",
]
# None of these URLs may be requested, or appear as a link in the page.
ADDRESSES = ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "ftp://127.0.0.1/x.png"]

# Each image that is to be loaded, is loaded, and its tile knows it.
ARRIVED = "[...document.querySelectorAll('#gallery img')].every(one => one.loading === 'lazy' || one.closest('.image').matches('.loaded, .missing'))"


def stir(page, is_moving):
    """Moves the pointer without a pause, so that new images wait; or leaves it alone."""
    page.evaluate(
        "window.stirring = setInterval(() => dispatchEvent(new Event('pointermove')), 100), dispatchEvent(new Event('pointermove'))"
        if is_moving else "clearInterval(stirring)")


def held(page, address):
    """The requests for a URL, which wait until they are continued."""
    routes = []
    page.route(address, lambda route: routes.append(route))
    return routes


def limited(page):
    """Makes the time limits of the page's requests end only when `give_up` is called."""
    page.evaluate("""() => {
        window.limits = [];
        AbortSignal.timeout = () => { limits.push(new AbortController()); return limits.at(-1).signal; };
    }""")


def give_up(page):
    page.evaluate("limits.forEach(one => one.abort())")


def answers(page):
    """Makes the page keep the addresses of the pages that its script has fetched and used."""
    page.evaluate("""() => {
        const fetched = window.page;
        window.used = [];
        window.page = (address) => fetched(address).finally(() => { setTimeout(() => { used.push(address); }); });
    }""")


def first_visit(people, gallery, origin):
    page = people.page(gallery.address)
    page.add_init_script(MEASURE)
    page.goto(gallery.address)
    page.wait_for_selector("#gallery > li")
    expect("a first visit shows sixty images", cards(page), 60)
    tile = "Math.max(...[...document.querySelectorAll('.image')].map(one => { const image = one.querySelector('img');" \
        "if (!image.naturalWidth || one.closest('.whole')) return 0; const box = one.getBoundingClientRect();" \
        "const [a, b] = [box.width / box.height, image.naturalWidth / image.naturalHeight]; return 1 - Math.min(a, b) / Math.max(a, b); }))"
    until(page, ARRIVED)
    until(page, "[...document.querySelectorAll('.image')].slice(0, 12).every(one => one.matches('.loaded'))")
    # An image can be complete a moment before its load event, which gives its tile the proportions.
    until(page, f"{tile} < 0.1")
    print("   at most a tenth of each image is cut off", flush=True)
    seen = measured(page)
    print(f"   largest paint {seen['largest']:.0f} ms, layout shift {seen['moved']:.4f}", flush=True)
    expect("nothing moves while images arrive", seen["moved"] < 0.001)
    people.keep(page, "light")
    people.accessible(page, "light")
    return page


def early_visit(people, folder, origin):
    """A visit while a feed is still on its way: what arrives moves nothing from under the visitor."""
    place = f"http://127.0.0.1:{origin.port}"
    gallery = Gallery(program, "--cache", f"{folder}/early.db", f"{place}/diary.json", f"{place}/late.json")
    page = people.page(gallery.address)
    page.add_init_script(MEASURE)
    until(page, lambda: "<li id=" in gallery.text(""))
    page.goto(gallery.address)
    page.wait_for_selector("#gallery > li")
    until(page, "events?.readyState === EventSource.OPEN")
    origin.lates = [origin.dated(80_000 + number, number, f"Late and new {number}") for number in range(12)]
    stir(page, True)
    origin.late.set()
    page.wait_for_selector("#news:has-text('new image')")
    expect("new images on a first visit wait", page.locator("text=Late and new").count(), 0)
    people.accessible(page, "news on a first visit")
    stir(page, False)
    page.wait_for_selector("text=Late and new")
    until(page, "document.getAnimations().length === 0")
    moved = measured(page)["moved"]
    print(f"   layout shift of a visit during which 12 images arrive: {moved:.4f}", flush=True)
    expect("when they appear, the layout shifts by less than 0.1", moved < 0.1)
    # Where there are no animations, only the reader moves the page.
    calm = people.visit(gallery.address, reduced_motion="reduce")
    until(calm, "events?.readyState === EventSource.OPEN && !isStirred()")
    origin.lates.append(origin.dated(79_000, 0, "For calm readers"))
    calm.wait_for_selector("#news:has-text('1 new image')")
    origin.lates.append(origin.dated(79_001, 0, "Also for calm readers"))
    calm.wait_for_selector("#news:has-text('2 new images')")
    expect("with reduced motion, new images wait until the button is clicked", calm.locator("text=or calm readers").count(), 0)
    expect("meanwhile, no timer runs", calm.evaluate("resting"), 0)
    calm.click("#news")
    calm.wait_for_selector("text=For calm readers")
    people.leave(calm)
    people.leave(page)
    gallery.stop()

    # A gallery of only one feed, which has no images.
    origin.late.clear()
    origin.lates = []
    gallery = Gallery(program, "--cache", f"{folder}/empty.db", f"{place}/late.json")
    page = people.page(gallery.address)
    page.goto(gallery.address)
    until(page, "events?.readyState === EventSource.OPEN")
    expect("while the first feed is loading, the page says so", page.locator("#empty").inner_text(), "Loading…")
    origin.late.set()
    becomes(page, "a page that stays empty says so when its feeds have been loaded", lambda: page.locator("#empty").inner_text(), "There are no images.")
    people.leave(page)
    gallery.stop()


def known(gallery, page):
    """Waits until the sizes of the first images are known, so that each visit is laid out in the same way."""
    # That which isn't an image has no size.
    until(page, lambda: gallery.text("").count('class="unknown"') <= 1)


def arrivals(people, gallery, origin, page):
    origin.add("Just arrived", "Lisbon")
    first = page.locator("#gallery > li").first
    page.wait_for_selector("text=Just arrived")
    words = first.locator(".description").inner_text()
    expect("a new image comes first, without a reload, and is marked", words.lower(), "new just arrived")
    expect("a screen reader announces the new image", page.locator("#said").inner_text(), "1 new image")
    # Further down what is looked at stays where it is.
    page.mouse.wheel(0, 2000)
    until(page, "scrollY > 1000 && document.getAnimations().length === 0")
    # A wheel may roll on for a while.
    at_rest(page, "scrollY")
    # Tiles far below may still get the proportions of their images.
    where = "[...document.querySelectorAll('#gallery > li')].map(one => [one.id, one.getBoundingClientRect()])" \
        ".filter(([, box]) => box.bottom > 0 && box.top < innerHeight).map(([id, box]) => [id, box.left, box.top])"
    before = page.evaluate(where)
    origin.add("Arrived above", "Faro")
    page.wait_for_selector("#news:visible")
    drawn(page)
    expect("visible images stay in place when a new image arrives above them", page.evaluate(where), before)
    people.accessible(page, "news")
    page.click("#news")
    page.wait_for_selector("text=Arrived above")
    until(page, "document.activeElement.closest('li')?.querySelector('.description').innerText.toLowerCase() === 'new arrived above'")
    becomes(page, "a button leads to the new images", "scrollY", 0)
    page.evaluate("scrollTo(0, 2000)")
    origin.add("Seen on the way up", "Faro")
    page.wait_for_selector("#news:visible")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector("text=Seen on the way up")
    expect("scrolling up shows the new images without a click", page.locator("#news").is_visible(), False)
    # More at a time than a page has.
    many = [origin.item(len(origin.items) + number, f"Flood {number}", None, None) for number in range(70)]
    origin.items = many[::-1] + origin.items
    page.wait_for_selector("text=Flood 69")
    order = page.evaluate("[...document.querySelectorAll('.description')].map(one => one.innerText.slice(4))")
    expect("seventy new images at once leave no gap", order[:60], [f"Flood {number}" for number in range(69, 9, -1)])
    new = people.visit(gallery.address + "?new=1")
    until(new, "scrollTo(0, document.body.scrollHeight), !document.getElementById('more')")
    ids = new.evaluate("[...document.querySelectorAll('#gallery > li:has(.fresh)')].map(one => one.id)")
    expect("scrolling on the New page shows every new image once", (len(ids) > 70, len(set(ids)), cards(new)), (True, len(ids), len(ids)))
    people.leave(new)


def changes(people, gallery, origin, page):
    """What is new only in part."""
    page.goto(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    count = cards(page)
    origin.add("The same image again", "Sintra", address=origin.items[0]["image"])
    page.wait_for_selector("text=The same image again")
    expect("an image may appear twice", cards(page), count + 1)
    origin.items[0]["description"] = "In other words"
    page.wait_for_selector(".description:has-text('In other words')")
    first = page.locator("#gallery img").first
    expect("a changed description is replaced in place", (cards(page), first.get_attribute("alt")), (count + 1, "In other words"))
    expect("the former description is gone", page.locator("text=The same image again").count(), 0)


def caught_up(page, gallery):
    """Waits until a server that was restarted has loaded its feeds, and the page has what they brought."""
    gallery.ready()
    # The page takes the new server for its own once it has everything.
    run = re.search(r'data-run="([^"]+)"', gallery.text(""))[1]
    until(page, f"body.dataset.run === {json.dumps(run)} && !isBusy")


def losses(people, gallery, origin, page):
    # Also the cards that a page further down has brought.
    until(page, "scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#gallery > li').length > 150")
    page.evaluate("scrollTo(0, 0)")
    origin.stop()
    page.wait_for_selector("#bar:has-text('are unreachable')")
    expect("the bar counts unreachable servers and links to their health", page.locator("#bar a").get_attribute("href"), "/health")
    expect("the images do not repeat that a server is unreachable", "unreachable" in page.locator("#gallery").inner_text(), False)
    page.reload()
    page.wait_for_selector("#gallery > li")
    until(page, ARRIVED)
    becomes(
        page, "saved images are shown while the servers are unreachable",
        "[...document.querySelectorAll('.image')].slice(0, 12).filter(one => one.matches('.loaded:not(.missing)')).length", 12)
    people.keep(page, "away")
    people.accessible(page, "away")
    origin.start()
    becomes(page, "the bar disappears when the servers are reachable again", "document.getElementById('bar').hidden")

    gallery.stop()
    page.wait_for_selector("#bar:has-text('has lost its connection')")
    origin.add("Arrived meanwhile", "Porto")
    gallery.start()
    page.wait_for_selector("text=Arrived meanwhile", timeout=60_000)
    # Until then, the server has only part of the list, and its pages may end early.
    caught_up(page, gallery)
    becomes(page, "an open page catches up after the server has restarted", "document.getElementById('bar').hidden")

    until(page, "scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#gallery > li').length > 150")
    page.evaluate("scrollTo(0, 3000)")
    at_rest(page, "scrollY")
    count = cards(page)
    gallery.stop()
    page.wait_for_selector("#bar:has-text('has lost its connection')")
    page.evaluate("""() => {
        const one = [...document.querySelectorAll("#gallery img")].find(one => one.getBoundingClientRect().top > 0);
        [one.id, one.srcset, one.src] = ["failed", "", one.src.split("?")[0] + "?w=1599"];
    }""")
    page.wait_for_selector(".missing:has(#failed) .reason:has-text('lost its connection')", state="attached")
    gallery.start()
    page.wait_for_selector("#bar", state="hidden", timeout=60_000)
    caught_up(page, gallery)
    until(page, "document.getElementById('failed').naturalWidth > 0")
    expect("an image that failed while the server was away is loaded again", page.locator(".missing #failed").count(), 0)
    expect("after a restart of the server, the page keeps its images and its place", (cards(page) >= count, page.evaluate("scrollY") > 2000), (True, True))


def races(people, gallery, origin):
    """Responses that arrive after the user has continued."""
    page = people.visit(gallery.address)
    answers(page)
    searches = held(page, "**/?q=*")
    page.fill("#words", "m")
    until(page, lambda: len(searches) == 1)
    page.fill("#words", "moon")
    until(page, lambda: len(searches) == 2)
    searches[1].continue_()
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    searches[0].continue_()
    until(page, "used.includes('/?q=m')")
    # The message waits for 700 ms; a timer that was set earlier, and as long, has ended before this one.
    page.evaluate("new Promise(done => setTimeout(done, 700))")
    expect("an answer to former words doesn't replace the results", cards(page), 1)
    expect("no message stays above the results of a search", page.locator("text=Searching").count(), 0)
    links = page.locator("footer a").first.get_attribute("href")
    expect("the title and the links belong to the search", ("Search" in page.title(), "q=moon" in links), (True, True))
    page.unroute("**/?q=*")
    with page.expect_event("load"):
        page.evaluate("history.back()")
    until(page, "document.querySelectorAll('#gallery > li').length > 1")
    becomes(page, "Back leads from search results to the list before them", lambda: page.url, gallery.address)
    people.leave(page)

    page = people.visit(gallery.address)
    older = held(page, "**/?from=*")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    until(page, lambda: older)
    page.fill("#words", "Moonrise")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    older[0].continue_()
    until(page, "loading === null")
    expect("older images aren't added to search results", cards(page), 1)
    people.leave(page)

    page = people.visit(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    lists = held(page, gallery.address)
    origin.add("While searching", "Sintra")
    until(page, lambda: lists)
    page.fill("#words", "nothinghasthesewords")
    until(page, "listed.includes('nothing') && document.querySelectorAll('#gallery > li').length === 0")
    lists[0].continue_()
    # The answer is for another list, so the page asks for its own once more.
    until(page, "!isBusy")
    expect("new images aren't added to search results", cards(page), 0)
    people.leave(page)

    page = people.visit(gallery.address)
    answers(page)
    searches = held(page, "**/?q=*")
    page.fill("#words", "moon")
    until(page, lambda: searches)
    page.locator(".image").first.click()
    page.wait_for_selector("#large[open]")
    searches[0].continue_()
    until(page, "used.includes('/?q=moon')")
    expect("an image that is enlarged during a search can be left with the arrow keys", page.locator("[value=next]").is_enabled())
    page.keyboard.press("Escape")
    until(page, lambda: len(searches) == 2)
    searches[1].continue_()
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    becomes(page, "the search follows when the image is closed", lambda: "q=moon" in page.url)
    people.leave(page)

    page = people.visit(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    stir(page, True)
    origin.add("While enlarged", "Sintra")
    page.wait_for_selector("#news:visible")
    lists = held(page, gallery.address)
    page.click("#news")
    until(page, lambda: lists)
    page.locator(".image").first.click()
    page.wait_for_selector("#large[open]")
    lists[0].continue_()
    until(page, "!isBusy")
    expect("new images that were requested don't move an image that is enlarged", page.locator("text=While enlarged").count(), 0)
    page.unroute(gallery.address)
    stir(page, False)
    page.keyboard.press("Escape")
    page.wait_for_selector("text=While enlarged")
    people.leave(page)

    page = people.visit(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    limited(page)
    lists = held(page, gallery.address)
    origin.add("After two failures", "Sintra")
    until(page, lambda: lists)
    lists[0].fulfill(status=500)
    until(page, lambda: len(lists) == 2)
    give_up(page)
    until(page, lambda: len(lists) == 3)
    # Without a handler, the browser continues what waits.
    page.unroute(gallery.address)
    page.wait_for_selector("text=After two failures")
    expect("an update that fails, or takes too long, is requested again", len(lists) >= 3)
    people.leave(page)

    page = people.visit(gallery.address)
    limited(page)
    older = held(page, "**/?from=*")
    count = cards(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    until(page, lambda: older)
    give_up(page)
    until(page, "loading === null")
    expect("when a request for more images takes too long, its link stays", (page.locator("#more").count(), cards(page)), (1, count))
    page.unroute("**/?from=*")
    page.evaluate("more()")
    becomes(page, "that link loads more images later", lambda: cards(page) > count)
    people.leave(page)

    page = people.visit(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    page.fill("#words", "nothinghasthesewords")
    until(page, "listed.includes('nothing') && document.getElementById('empty').innerText === 'No matches.'")
    page.route("**/?q=neither*", lambda route: route.abort())
    page.fill("#words", "neither")
    said = "document.getElementById('empty').innerText"
    until(page, f"{said}.startsWith('The search failed.')")
    page.evaluate("window.former = version")
    origin.add("After a search that failed", "Sintra")
    until(page, "version > former && !isBusy")
    expect("an update keeps the message of a search", page.evaluate(said), "The search failed. Press Enter to try again.")
    page.fill("#words", "northese")
    becomes(page, "the next search replaces that message", said, "No matches.")
    people.leave(page)

    health = people.visit(gallery.address, viewport={"width": 390, "height": 844})
    health.goto(gallery.address + "health")
    health.evaluate("document.querySelector('.scrolling').scrollLeft = 100, document.querySelector('.scrolling').focus()")
    before = health.locator("tbody").inner_text()
    until(health, f"document.querySelector('tbody').innerText !== {json.dumps(before)}")
    place = "[document.querySelector('.scrolling').scrollLeft, document.activeElement.className]"
    expect("the health page keeps its focus and its scroll position", health.evaluate(place), [100, "scrolling"])
    people.leave(health)


def reconnection(people, gallery, origin):
    wire = Wire(gallery.port)
    page = people.visit(f"http://127.0.0.1:{wire.port}/")
    until(page, "events.readyState === EventSource.OPEN")
    origin.add("While the wire was whole", "Évora")
    page.wait_for_selector("text=While the wire was whole")
    wire.cut()
    page.wait_for_selector("#bar:has-text('has lost its connection')")
    expect("no request has a Last-Event-ID before the connection is cut", wire.said.count(b"Last-Event-ID"), 0)
    origin.add("While the wire was cut", "Évora")
    until(page, lambda: "While the wire was cut" in gallery.text(""))
    wire.mend()
    page.wait_for_selector("text=While the wire was cut", timeout=20_000)
    becomes(page, "a browser that reconnects sends its last event's id", lambda: len(re.findall(rb"Last-Event-ID: \w+-\d+\r\n", wire.said)) >= 1)
    becomes(page, "after reconnecting, the bar disappears", "document.getElementById('bar').hidden")
    people.leave(page)
    wire.cut()


def many_tabs(people, gallery):
    context = people.browser.new_context()
    for _ in range(8):
        page = people.page(gallery.address, context)
        page.goto(gallery.address)
        page.wait_for_selector("#gallery > li")
        # A tab behind another; this browser has no windows, in which all but one are.
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
            "document.dispatchEvent(new Event('visibilitychange'))")
    expect("a browser can have more pages open than connections", len(context.pages), 8)
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    until(page, "events && events.readyState === EventSource.OPEN")
    becomes(
        page, "a page that becomes visible again reconnects to the events",
        lambda: gallery.text("metrics").count("feed_serve_event_clients 0"), 0)
    people.leave(page)
    people.pages = [one for one in people.pages if not one.is_closed()]


def scrolling(people, gallery, page):
    page.add_init_script(MEASURE)
    page.goto(gallery.address)
    total = gallery.count()
    expect("there are more than a thousand images", total > 1000)
    until(page, f"scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#gallery > li').length >= {total}", seconds=300)
    ids = "[...document.querySelectorAll('#gallery > li')].map(one => one.id)"
    # What the feeds had before comes next, and may already be there.
    expect("scrolling shows every current image once", page.evaluate(f"new Set({ids}.slice(0, {total})).size"), total)
    print(f"   the longest task of a thousand images: {measured(page)['longest']:.0f} ms", flush=True)
    until(page, "scrollTo(0, document.body.scrollHeight), !document.getElementById('more')", seconds=300)
    expect("scrolling on shows every former item once", page.evaluate(f"new Set({ids}).size === {ids}.length"))


def keyboard(people, gallery):
    page = people.visit(gallery.address)
    focused = "document.activeElement"
    place = f"[...document.querySelectorAll('#gallery > li')].indexOf({focused}.closest('li'))"
    page.keyboard.press("Tab")
    becomes(page, "the first Tab focuses the link past the header", f"{focused}.className", "skip")
    page.keyboard.press("Enter")
    until(page, "location.hash === '#main'")
    page.keyboard.press("Tab")
    becomes(page, "the Tab after that link focuses the first image", place, 0)
    tops = "[...document.querySelectorAll('#gallery > li')].map(one => Math.round(one.offsetTop))"
    page.keyboard.press("ArrowRight")
    becomes(page, "the right arrow focuses the next image", place, 1)
    rows = page.evaluate(tops)
    row = lambda: sorted(set(rows)).index(rows[page.evaluate(place)])
    expect("the first two images are in the first row", (rows[0], rows[1]), (min(rows), min(rows)))
    page.keyboard.press("ArrowDown")
    becomes(page, "the down arrow focuses an image in the next row", row, 1)
    page.keyboard.press("k")
    becomes(page, "k focuses an image in the previous row", row, 0)
    page.keyboard.press("j")
    becomes(page, "j focuses an image in the next row", row, 1)
    here = page.evaluate(place)
    page.keyboard.press("Enter")
    page.wait_for_selector("#large[open]")
    until(page, "document.querySelector('#large img').naturalWidth > 0")
    people.keep(page, "large")
    people.accessible(page, "one image")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    # A browser says that a dialog is closed only after it has given the focus back itself.
    becomes(page, "after closing, the image that was enlarged last has the focus", place, here + 1)
    becomes(
        page, "closing an enlarged image restores the page's URL",
        lambda: (page.url, page.locator("#large").is_visible()), (gallery.address + "#main", False))
    page.keyboard.press("End")
    becomes(page, "the End key loads more images", "document.querySelectorAll('#gallery > li').length > 60")
    page.goto(gallery.address)
    page.evaluate("scrollTo(0, 2000)")
    page.keyboard.press("Home")
    becomes(page, "the Home key focuses the first image, even if another one is visible", place, 0)
    page.goto(gallery.address)
    page.keyboard.press("l")
    becomes(page, "the first key press focuses the first image", place, 0)
    page.keyboard.press("s")
    page.wait_for_selector("#gallery > li:first-child .star[aria-pressed=true]")
    page.keyboard.press("s")
    page.wait_for_selector("#gallery > li:first-child .star[aria-pressed=false]")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    people.keep(page, "help")
    people.accessible(page, "the help")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="hidden")
    page.keyboard.press("/")
    becomes(page, "the slash key focuses the search", f"{focused}.id", "words")
    page.goto(gallery.address)
    for _ in range(6):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("table")
    becomes(page, "the health page can be reached with the keyboard", lambda: page.url, gallery.address + "health")
    people.leave(page)


def looks(people, gallery, origin, page):
    known(gallery, page)
    dark = people.visit(gallery.address, color_scheme="dark")
    people.keep(dark, "dark")
    people.accessible(dark, "dark")
    people.leave(dark)
    lefts = "new Set([...document.querySelectorAll('#gallery > li')].map(one => Math.round(one.getBoundingClientRect().left))).size"
    rows = "[...document.querySelectorAll('#gallery > li')].slice(0, -12).map(one => one.getBoundingClientRect())" \
        ".filter((one, place, all) => all[place + 1]?.top > one.top).every(one => innerWidth - one.right < 40)"
    for name, width in [("narrowest", 320), ("390", 390), ("820", 820), ("1440", 1440), ("wide", 2560)]:
        for theme in ["light", "dark"] if width in (390, 820, 1440) else ["light"]:
            page = people.visit(gallery.address, viewport={"width": width, "height": 900}, color_scheme=theme)
            people.keep(page, f"{name}-{theme}")
            if width in (390, 820, 1440):
                people.same(page, f"{name}-{theme}")
            expect(f"{name}, {theme}: the page is no wider than the window", page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
            if width < 576:
                expect(f"{name}, {theme}: there are two columns", page.evaluate(lefts), 2)
            else:
                expect(f"{name}, {theme}: the rows are as wide as the window", page.evaluate(rows))
            people.accessible(page, f"{name}, {theme}")
            people.leave(page)
    health = people.visit(gallery.address)
    health.goto(gallery.address + "health")
    health.screenshot(path=f"{screenshots}/health.png")
    people.accessible(health, "health")
    before = health.locator("tbody tr").first.inner_text()
    origin.stop()
    until(health, "document.querySelectorAll('td.failing').length === 3")
    expect("the health page updates itself", health.locator("tbody tr").first.inner_text() != before)
    becomes(
        health, "the health page says since when a feed has been unreachable",
        lambda: re.search(r"unreachable since \d\d:\d\d; saved", health.locator("td.failing").first.inner_text()) is not None)
    health.screenshot(path=f"{screenshots}/health-away.png")
    origin.start()
    health.wait_for_selector("td.failing", state="detached")
    people.leave(health)


def filters(people, gallery):
    """Folders, what is new, what is starred, and the window around one image."""
    page = people.visit(gallery.address)
    page.click("#filter a:has-text('Walks')")
    page.wait_for_url("**folder=Walks**")
    sources = "[...new Set([...document.querySelectorAll('#gallery .source')].map(one => one.innerText))]"
    expect("a folder shows only its own feeds", page.evaluate(sources), ["Mountain diary"])
    people.keep(page, "folder")
    people.accessible(page, "a folder")
    page.fill("#words", "moon")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    becomes(page, "a search in a folder stays in that folder", lambda: "folder=Walks" in page.url and "q=moon" in page.url)
    page.locator("#gallery > li").first.hover()
    page.locator(".star").first.click()
    page.wait_for_selector(".star[aria-pressed=true]")
    page.click("nav a:has-text('Starred')")
    page.wait_for_url("**starred=1**")
    expect("the Starred page shows the starred item", cards(page), 1)
    page.goto(gallery.address + "?new=1")
    expect("the New page shows only new items", page.locator("#gallery > li:not(:has(.fresh))").count(), 0)
    people.keep(page, "new")

    page.goto(gallery.address)
    page.locator(".image").nth(1).click()
    page.wait_for_selector("#large[open]")
    name = page.evaluate("document.querySelectorAll('#gallery > li')[1].id")
    becomes(page, "an enlarged image has a URL", lambda: page.url, gallery.address + "#" + name)
    page.keyboard.press("ArrowRight")
    until(page, lambda: page.url != gallery.address + "#" + name)
    page.go_back()
    page.wait_for_selector("#large", state="hidden")
    becomes(page, "the browser's Back closes an enlarged image", lambda: page.url, gallery.address)
    page.goto(gallery.address + "#" + name)
    page.wait_for_selector("#large[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#large", state="hidden")
    becomes(page, "an image's URL opens the image, and closing it restores the page's URL", lambda: page.url, gallery.address)
    page.fill("#words", "Not an image")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    page.locator(".image").first.click()
    page.wait_for_selector("#large .reason:has-text('web page where a')")
    expect("if an enlarged image cannot be shown, the page says why", page.locator("#large img").is_visible(), False)
    people.keep(page, "large-missing")
    people.leave(page)


def without_script(people, gallery):
    plain = people.visit(gallery.address, java_script_enabled=False)
    plain.click("#more")
    plain.wait_for_url("**from=60*")
    expect("without JavaScript, a link leads to the next page", (cards(plain), "from=60" in plain.url), (60, True))
    plain.click("text=The latest")
    plain.wait_for_url(gallery.address)
    expect("without JavaScript, a link leads back to the latest images", plain.url, gallery.address)
    plain.fill("#words", "Four days")
    plain.keyboard.press("Enter")
    plain.wait_for_url("**q=Four*")
    plain.locator("#gallery > li").first.hover()
    plain.locator(".star").first.click()
    plain.wait_for_selector(".star[aria-pressed=true]")
    becomes(plain, "without JavaScript, search and stars work as forms", lambda: "q=Four" in plain.url)
    plain.locator(".star").first.click()
    plain.wait_for_selector(".star[aria-pressed=false]")
    plain.click(".set summary")
    plain.click(".set a:has-text('The hut')")
    plain.wait_for_url("**/image/**")
    expect("without JavaScript, each image of a post has a link", "/image/" in plain.url)
    plain.goto(gallery.address + "slideshow?every=2s&feed=mountain-diary")
    first = plain.locator("figcaption").inner_text()
    plain.wait_for_url("**at=**")
    becomes(plain, "without JavaScript, the slideshow advances", lambda: plain.locator("figcaption").inner_text() != first)
    people.leave(plain)


def viewer(people, gallery, origin):
    """The enlarged view of an image, and its controls."""
    page = people.visit(gallery.address)
    name = page.evaluate("[...document.querySelectorAll('#gallery > li')].findIndex(one => one.innerText.includes('Four days'))")
    tile = page.locator("#gallery > li").nth(name)
    expect("a post of four images has a badge", tile.locator(".set summary").inner_text(), "4")
    tile.locator(".image").click()
    page.wait_for_selector("#large[open]")
    until(page, "document.querySelector('#stage img:not(.thumb)')?.naturalWidth > 0 && !document.querySelector('#stage .thumb')")
    said = lambda: page.locator("#about .meta").inner_text()
    becomes(page, "the enlarged view shows the image's number within its post", lambda: "image 1 of 4" in said())
    expect("the enlarged view links to the post", page.locator("#about .tools .post").get_attribute("href").endswith("/posts/60012"))
    for text in ["The pass", "The hut", "Rain"]:
        page.keyboard.press("ArrowRight")
        becomes(
            page, f"the images of a post follow one another, with their alternative texts: {text}",
            "document.querySelector('#stage img:not(.thumb)').alt", text)
    becomes(page, "each image of a post has a URL", lambda: page.url.endswith(".4"))
    page.reload()
    page.wait_for_selector("#large[open]")
    becomes(page, "the URL of a post's fourth image opens that image", lambda: "image 4 of 4" in said())
    people.keep(page, "large-set")
    people.same(page, "large-set", "#about .meta")
    people.accessible(page, "one of several images")
    page.keyboard.press("ArrowRight")
    becomes(page, "the next post follows the last image of a post", lambda: "image" in said(), False)
    page.keyboard.press("k")
    becomes(page, "k leads back to the first image of the previous post", lambda: "image 1 of 4" in said())

    until(page, "document.querySelector('#stage img:not(.thumb)').naturalWidth > 0")
    size = "document.querySelector('#stage > div').getBoundingClientRect().width / innerWidth"
    page.mouse.move(400, 300)
    page.mouse.wheel(0, -400)
    until(page, f"{size} > 1.5")
    where = "document.querySelector('#stage > div').getBoundingClientRect().left"
    at_rest(page, where)
    before = page.evaluate(where)
    page.mouse.down()
    page.mouse.move(500, 320, steps=4)
    page.mouse.up()
    becomes(page, "the wheel zooms, and a zoomed image can be dragged", f"{where} > {before}")
    people.keep(page, "large-near")
    page.keyboard.press("ArrowRight")
    becomes(page, "the arrow keys move a zoomed image", lambda: (page.evaluate(where) < before, "image 1 of 4" in said()), (True, True))
    page.keyboard.press("0")
    becomes(page, "the 0 key shows the whole image", size, 1)
    page.keyboard.press("+")
    until(page, f"{size} > 1.2")
    page.dblclick("#stage")
    until(page, f"{size} === 1")
    with page.expect_download() as download:
        page.click("#about .download")
    expect("an enlarged image can be downloaded", download.value.failure(), None)
    page.click("#about [value=star]")
    page.wait_for_selector("#about [value=star][aria-pressed=true]")
    expect("an enlarged image can be starred", tile.locator(".star").get_attribute("aria-pressed"), "true")
    page.click("#about [value=star]")
    page.wait_for_selector("#about [value=star][aria-pressed=false]")
    page.keyboard.press("Escape")
    until(page, "!large.open && !location.hash")
    ends(people, gallery)

    # So old that nobody loads it ahead.
    origin.diary.append(origin.dated(70_100, 200_000, "Slow boat", f"http://127.0.0.1:{origin.port}/slow.png"))
    until(page, lambda: "<bdi>Slow boat</bdi>" in gallery.text("?q=Slow%20boat"))
    page.fill("#words", "Slow boat")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    page.locator(".image").first.click()
    page.wait_for_selector("#large .reason:has-text('Loading')")
    page.screenshot(path=f"{screenshots}/large-waiting.png")
    expect("a slow image shows Loading…", page.locator("#large .reason").inner_text(), "Loading…")
    origin.gate.set()
    until(page, "document.querySelector('#stage img:not(.thumb)')?.naturalWidth > 0")
    becomes(page, "Loading… disappears when the image has arrived", lambda: page.locator("#large .reason").inner_text(), "")
    people.leave(page)

    phone = people.visit(gallery.address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.locator(".image").first.tap()
    phone.wait_for_selector("#large[open]")
    first = phone.evaluate("location.href")
    until(phone, "document.querySelector('#stage img:not(.thumb)')?.naturalWidth > 0")
    people.keep(phone, "large-390")
    people.same(phone, "large-390", "#about")
    people.accessible(phone, "one image on a phone")
    swipe = "([x, y]) => { const at = (type, x, y) => document.getElementById('stage').dispatchEvent(new PointerEvent(type," \
        "{ pointerId: 7, clientX: x, clientY: y, bubbles: true })); at('pointerdown', 200, 400); at('pointermove', 200 + x, 400 + y);" \
        "at('pointerup', 200 + x, 400 + y); }"
    phone.evaluate("document.getElementById('stage').setPointerCapture = () => {}")
    phone.evaluate(swipe, [-120, 5])
    becomes(phone, "a swipe to the left shows the next image", lambda: phone.url not in (first, gallery.address))
    phone.evaluate(swipe, [130, 5])
    becomes(phone, "a swipe to the right shows the previous image", lambda: phone.url, first)
    phone.go_back()
    phone.wait_for_selector("#large", state="hidden")
    becomes(phone, "Back on a phone closes the image and stays on the page", lambda: phone.url, gallery.address)
    people.leave(phone)


def ends(people, gallery):
    """The enlarged view at the ends of the list, where its buttons are disabled and more images are loaded."""
    page = people.visit(gallery.address)
    number = lambda: int(re.search(r"(\d+)/\d+$", page.locator("#about .meta").inner_text())[1])
    count = cards(page)
    page.evaluate("enlarge(list.lastElementChild.previousElementSibling)")
    page.wait_for_selector("#large[open]")
    page.keyboard.press("j")
    until(page, f"document.querySelectorAll('#gallery > li').length > {count}")
    page.keyboard.press("j")
    becomes(page, "the keys lead past the last image that was loaded", number, count + 1)
    page.keyboard.press("Home")
    becomes(page, "the Home key enlarges the first image", number, 1)
    page.keyboard.press("j")
    becomes(page, "j enlarges the second image", number, 2)
    page.click("[value=previous]")
    becomes(page, "a button leads to the first image", number, 1)
    # A disabled button loses the focus when the page is rendered.
    drawn(page)
    page.keyboard.press("j")
    becomes(page, "after the button that leads to the first image, keys still work", number, 2)
    page.keyboard.press("End")
    becomes(page, "the End key enlarges the last image", lambda: number() > count)
    name = page.evaluate("shown.id")
    for isOn in ("true", "false"):
        page.keyboard.press("s")
        page.wait_for_selector(f"#{name} .star[aria-pressed={isOn}]", state="attached")
    page.keyboard.press("k")
    until(page, f"shown.id !== {json.dumps(name)} && location.hash === hash()")
    place = page.evaluate("location.href")
    page.reload()
    page.wait_for_selector("#large[open]")
    becomes(page, "the URL of an image further down opens the image", lambda: (page.url, number() >= count), (place, True))
    page.keyboard.press("Escape")
    # The history's step back must end before the next navigation begins.
    until(page, "!location.hash")
    page.goto(gallery.address)
    page.evaluate("hash => { location.hash = hash; }", "#" + place.split("#")[1])
    page.wait_for_selector("#large[open]")
    becomes(page, "so does a URL that is entered while the page is open", lambda: (page.url, number() >= count), (place, True))
    page.keyboard.press("Escape")
    until(page, "!location.hash")
    page.goto(gallery.address)
    page.evaluate("hash => { addEventListener('hashchange', () => help.showModal(), { once: true }); location.hash = hash; }",
                  "#" + place.split("#")[1])
    # The search for the image ends or goes on as soon as it has loaded more.
    until(page, f"document.querySelectorAll('#gallery > li').length > {count} && loading === null")
    expect("an image further down doesn't open over the help", page.locator("#large[open]").count(), 0)
    page.evaluate("() => { location.hash = '#' + document.querySelector('#gallery > li').id; }")
    page.wait_for_selector("#large[open]")
    expect("an image that opens closes the help", page.locator("#help[open]").count(), 0)
    people.leave(page)


def shows(people, gallery, origin):
    """The slideshow, and the image for frames."""
    page = people.page(gallery.address)
    page.goto(gallery.address + "slideshow?every=2s&q=Kiosk")
    expect("a slideshow without images says so", page.locator("text=There are no images.").count(), 1)
    origin.add("Kiosk")
    until(page, "document.querySelector('.frame img')?.naturalWidth > 0")
    page.wait_for_selector(".empty", state="detached")
    expect("when an image arrives, it replaces that text", page.locator("text=There are no images.").count(), 0)
    people.leave(page)
    page = people.page(gallery.address, viewport={"width": 1440, "height": 900})
    page.goto(gallery.address + "slideshow?every=1h&clock=1&feed=mountain-diary")
    until(page, "document.querySelector('.frame img').naturalWidth > 0")
    page.evaluate("document.querySelector('.frame img').decode()")
    drawn(page)
    page.screenshot(path=f"{screenshots}/slideshow.png")
    people.same(page, "slideshow", "#clock")
    people.accessible(page, "the slideshow")
    page.goto(gallery.address + "slideshow?every=2s&clock=1&feed=mountain-diary")
    first = page.locator("figcaption").first.inner_text()
    until(page, f"document.querySelector('main').lastElementChild.innerText !== {json.dumps(first)}")
    expect("the slideshow advances without loading another page", "at=" in page.url, False)
    middle = "box.x + box.width / 2, box.y + box.height / 2"
    top = page.evaluate(f"(box => document.elementFromPoint({middle})?.id)(document.querySelector('#clock').getBoundingClientRect())")
    expect("no image covers the slideshow's clock", top, "clock")
    limited(page)
    pages = held(page, "**/slideshow?*")
    until(page, lambda: pages)
    give_up(page)
    until(page, lambda: len(pages) > 1)
    expect("the slideshow requests its next page again if that takes too long", len({route.request.url for route in pages}), 1)
    images = held(page, "**/image/**")
    page.evaluate("""() => {
        const usual = window.usual = setTimeout;
        window.setTimeout = (run, time, ...values) => usual(run, time === 60_000 ? 0 : time, ...values);
    }""")
    pages[-1].continue_()
    page.unroute("**/slideshow?*")
    until(page, lambda: len({route.request.url for route in images}) > 1)
    page.unroute("**/image/**")
    page.evaluate("() => { window.setTimeout = usual; }")
    shown = page.evaluate("document.querySelector('main').lastElementChild.innerText")
    becomes(
        page, "the slideshow skips an image that takes too long",
        lambda: page.evaluate("document.querySelector('main').lastElementChild.innerText") != shown)
    expect("the slideshow shows the time", re.fullmatch(r"\d\d:\d\d", page.locator("#clock").inner_text()) is not None)
    page.keyboard.press("Escape")
    page.wait_for_selector("#gallery > li")
    becomes(page, "Escape leaves the slideshow", lambda: "feed=" in page.url)
    people.leave(page)
    frame = gallery.address + "frame.png?w=800&h=480&palette=gray4&feed=mountain-diary"
    answer = urllib.request.urlopen(frame)
    with open(f"{screenshots}/frame.png", "wb") as file:
        file.write(answer.read())
    expect("a frame has the same ETag until there is another image", status(frame, **{"If-None-Match": answer.headers["ETag"]}), 304)
    sizes = [len(gzip.compress(gallery.text(path).encode())) for path in ("", "style.css", "script.js")]
    print(f"   page, style and script: {sizes}, {sum(sizes)} bytes compressed", flush=True)
    expect("a first visit takes at most 25 kB", sum(sizes) <= 25_000)


def hostile(people, gallery, origin):
    page = people.visit(gallery.address)
    page.locator("text=Not an image").scroll_into_view_if_needed()
    page.wait_for_selector(".missing", state="attached")
    until(page, ARRIVED)
    expect("a file that isn't an image is marked as missing", page.locator(".missing").count(), 1)
    becomes(
        page, "the tile of a missing image says why",
        lambda: page.locator(".missing .reason").inner_text().strip().startswith("The server sent a web page where an image"))
    texts = page.evaluate("[...document.querySelectorAll('.description')].map(one => one.innerText)")
    for text in ["<img src=x", "</title></bdi><script>", "'\" onfocus=", "{{1+1}} ${alert(1)} &lt;b&gt;"]:
        expect(f"a description is shown as text: {text}", any(one.startswith(text) for one in texts))
    expect("a long description is cut", max(map(len, texts)) < 600)
    expect("a feed's name is shown as text", page.locator(".source", has_text="<b>Evil</b>").count() > 0)
    sources = page.evaluate(
        "[...document.querySelectorAll('img, a:not([href*=\"/posts/\"])')].map(one => one.src || one.href).filter(Boolean)")
    expect("every URL of an image or a link is the server's own", [one for one in sources if not one.startswith(gallery.address)], [])
    people.leave(page)
    for place in ["image/..%2f..%2fetc%2fpasswd", "image/http:%2f%2f127.0.0.1%2f", "image/?url=http://127.0.0.1/", "image/x"]:
        expect(f"the server fetches nothing for an invalid path: {place}", status(gallery.address + place), 404)


def elsewhere(people, gallery, origin):
    page = people.browser.new_context().new_page()
    answer = page.goto(f"http://rebind.example:{gallery.port}/")
    expect("a request for an unknown host name is refused", (answer.status, cards(page)), (421, 0))
    page.goto(f"http://127.0.0.1:{origin.port}/elsewhere")
    ask = "address => fetch(address).then(answer => answer.text(), () => 'refused')"
    for path in ["", "feed.json", "metrics"]:
        expect(f"a page of another site cannot read /{path}", page.evaluate(ask, gallery.address + path), "refused")
    image = re.search(r"/(image/[^\"?]+)", gallery.text("feed.json"))[1]
    show = ("address => new Promise(done => { const image = new Image(); image.onload = () => done('shown');"
            "image.onerror = () => done('refused'); image.src = address; })")
    expect("a page of another site cannot show the images", page.evaluate(show, gallery.address + image), "refused")
    frame = ("address => new Promise(done => { const frame = document.createElement('iframe'); frame.onload = () => done();"
             "frame.src = address; document.body.append(frame); })")
    count = r'server_request_duration_seconds_count{.*status_code="403"} (\d+)'
    refused = lambda: sum(int(number) for number in re.findall(count, gallery.text("metrics")))
    before = refused()
    page.evaluate(frame, gallery.address)
    becomes(page, "the server refuses a request for a frame of another site", lambda: refused() > before)
    # The browser shows a page of its own in the frame.
    becomes(
        page, "a page of another site cannot embed the page in a frame",
        lambda: [one.url for one in page.frames if one != page.main_frame], ["chrome-error://chromewebdata/"])
    page.context.close()


def tokens(people, folder, origin):
    gallery = Gallery(
        program, "--host", "0.0.0.0", "--cache", f"{folder}/token.db", f"http://127.0.0.1:{origin.port}/diary.json")
    page = people.page(gallery.address)
    page.goto(gallery.printed)
    page.wait_for_selector("#gallery > li")
    becomes(page, "the token is removed from the page's URL", lambda: page.url, gallery.address)
    until(page, "events.readyState === EventSource.OPEN && document.querySelector('#gallery img').naturalWidth > 0")
    origin.write(0, "With a token")
    page.wait_for_selector("text=With a token")
    until(page, ARRIVED)
    expect("images load with the token", page.locator(".missing").count(), 0)
    for path in ["", "feed.json", "events", "metrics", "script.js", "image/x"]:
        expect(f"a request without the token is refused: /{path}", status(gallery.address + path), 401)
    token = gallery.printed.split("token=")[1]
    expect("a feed reader can send the token", status(gallery.address + "feed.atom", Authorization=f"Bearer {token}"), 200)
    gallery.stop()
    # The next one has another token.
    gallery.start()
    bar = "A token is required. Open the URL that \"feed serve\" printed."
    becomes(page, "an open page says that the server requires another token", lambda: page.locator("#bar").inner_text(), bar)
    people.leave(page)
    gallery.stop()


def everything(browser, folder):
    origin = Origin()
    for number in range(1000):
        origin.add(*PLACES[number % len(PLACES)])
    for minutes, text in DIARY:
        origin.write(minutes, text)
    for number, text in enumerate(HOSTILE):
        origin.hate(30_000 + number, text)
    for address in ADDRESSES:
        origin.hate(40_000, f"An address: {address}", address)
    origin.set(
        5, "Four days in the hills", "We walked from the valley to the pass, slept in the hut, and came down in the rain.",
        [(101, "The valley"), (102, "The pass"), (103, "The hut"), (104, "Rain")])
    for minutes, text, path in [(6, "A tall comic", "comic.png"), (8, "A panorama", "panorama.png"), (11, "It moves", "moving.gif")]:
        origin.diary.append(origin.dated(70_000 + minutes, minutes, text, f"http://127.0.0.1:{origin.port}/{path}"))
    origin.hate(50_000, "Not an image", f"http://127.0.0.1:{origin.port}/page")
    feeds = "".join(
        f'<outline text="{folder_name}"><outline type="rss" text="{title}" xmlUrl="http://127.0.0.1:{origin.port}/{path}"/></outline>'
        for folder_name, title, path in [
            ("Towns", "Harbour walks", "feed.json"), ("Walks", "Mountain diary", "diary.json"), ("Odd & <more>", "", "evil.json")])
    with open(f"{folder}/feeds.opml", "w") as file:
        file.write(f'<opml version="2.0"><body>{feeds}</body></opml>')
    gallery = Gallery(program, "--cache", f"{folder}/feeds.db", "--opml", f"{folder}/feeds.opml")
    gallery.ready()
    looked = Looks(browser, os.path.join(os.path.dirname(__file__), "stored"), renews)
    people = People(browser, screenshots, looked)
    try:
        page = first_visit(people, gallery, origin)
        looks(people, gallery, origin, page)
        early_visit(people, folder, origin)
        hostile(people, gallery, origin)
        arrivals(people, gallery, origin, page)
        changes(people, gallery, origin, page)
        losses(people, gallery, origin, page)
        races(people, gallery, origin)
        scrolling(people, gallery, page)
        reconnection(people, gallery, origin)
        many_tabs(people, gallery)
        keyboard(people, gallery)
        filters(people, gallery)
        viewer(people, gallery, origin)
        shows(people, gallery, origin)
        without_script(people, gallery)
        elsewhere(people, gallery, origin)
        tokens(people, folder, origin)
        expect("every screenshot was compared with its stored copy", looked.compared, 0 if renews else 9)
        expect("the page looks like its stored copies; if it is to look otherwise, run Scripts/test-browser --images", people.differences, [])
        expect("no foreign script ran, and no other server was requested", people.complaints, [])
        for address in ADDRESSES:
            expect(f"the server does not request an unsafe URL: {address}", address in origin.asked, False)
    except Exception:
        people.failed()
        raise
    finally:
        gallery.stop()
        origin.stop()


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium-headless-shell"),
        args=["--no-sandbox", "--host-resolver-rules=MAP rebind.example 127.0.0.1"])
    try:
        everything(browser, folder)
    except Exception:
        traceback.print_exc()
        browser.close()
        sys.exit(1)
    browser.close()
