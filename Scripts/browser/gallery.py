"""Visits the page of `feed serve` as people do."""

import re
import shutil
import sys
import tempfile
import traceback

from playwright.sync_api import sync_playwright

from origin import Origin, Wire
from people import Gallery, People, at_rest, cards, expect, status, until

program, pictures = sys.argv[1:3]
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


def first_visit(people, gallery, origin):
    page = people.visit(gallery.address)
    expect("a first visit shows sixty pictures", cards(page), 60)
    people.keep(page, "light")
    people.accessible(page, "light")
    return page


def arrivals(people, gallery, origin, page):
    origin.add("Just arrived", "Lisbon")
    first = page.locator("#gallery > li").first
    page.wait_for_selector("text=Just arrived")
    words = first.locator(".description").inner_text()
    expect("a new picture comes first, without a reload, and has a mark", words.lower(), "new just arrived")
    expect("a screen reader says so", page.locator("#said").inner_text(), "1 new picture")
    # Further down what is looked at stays where it is.
    page.mouse.wheel(0, 2000)
    until(page, "scrollY > 1000 && document.getAnimations().length === 0")
    # A wheel may roll on for a while.
    at_rest(page, "scrollY")
    where = "[...document.querySelectorAll('#gallery > li')].map(one => [one.id, one.getBoundingClientRect().top])"
    before = page.evaluate(where)
    origin.add("Arrived above", "Faro")
    page.wait_for_selector("#news:visible")
    expect("what is looked at stays in its place", page.evaluate(where)[: len(before)], before)
    people.accessible(page, "news")
    page.click("#news")
    page.wait_for_selector("text=Arrived above")
    until(page, "document.activeElement.closest('li')?.innerText.toLowerCase().startsWith('new arrived above')")
    expect("a button leads to what is new", page.evaluate("scrollY"), 0)
    # More at a time than a page has.
    for number in range(70):
        origin.items.insert(0, origin.item(len(origin.items), f"Flood {number}", None, None))
    page.wait_for_selector("text=Flood 69")
    order = page.evaluate("[...document.querySelectorAll('.description')].map(one => one.innerText.slice(4))")
    expect("many at a time leave no gap", order[:60], [f"Flood {number}" for number in range(69, 9, -1)])


def changes(people, gallery, origin, page):
    """What is new only in part."""
    page.goto(gallery.address)
    until(page, "events.readyState === EventSource.OPEN")
    count = cards(page)
    origin.add("The same picture again", "Sintra", address=origin.items[0]["image"])
    page.wait_for_selector("text=The same picture again")
    expect("an image may appear twice", cards(page), count + 1)
    origin.items[0]["description"] = "In other words"
    page.wait_for_selector(".description:has-text('In other words')")
    first = page.locator("#gallery img").first
    expect("words that change do so in place", (cards(page), first.get_attribute("alt")), (count + 1, "In other words"))
    expect("where they were", page.locator("text=The same picture again").count(), 0)


def losses(people, gallery, origin, page):
    # Also the cards that a page further down has brought.
    until(page, "scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#gallery > li').length > 150")
    page.evaluate("scrollTo(0, 0)")
    origin.stop()
    page.wait_for_selector("#bar:has-text('are unreachable')")
    expect("unreachable servers are counted", page.locator("#bar a").get_attribute("href"), "/health")
    page.wait_for_selector("#gallery .origin.failing")
    # A request that was on its way is cut; the next one finds nobody.
    until(page, "document.querySelector('.origin').title.includes('could not connect')")
    expect("each picture says that it was saved, and why", page.locator("#gallery .origin:not(.failing)").count(), 0)
    expect("in a few words", page.locator("#gallery .origin").first.inner_text().startswith("saved "))
    people.keep(page, "away")
    people.accessible(page, "away")
    origin.start()
    page.wait_for_selector("#bar", state="hidden")
    expect("servers that are back are not named", page.locator("#gallery .origin:visible").count(), 0)

    gallery.stop()
    page.wait_for_selector("#bar:has-text('has lost its server')")
    origin.add("Arrived meanwhile", "Porto")
    gallery.start()
    page.wait_for_selector("text=Arrived meanwhile", timeout=20_000)
    expect("a page that was alone catches up with a new server", page.locator("#bar").is_visible(), False)


def reconnection(people, gallery, origin):
    wire = Wire(gallery.port)
    page = people.visit(f"http://127.0.0.1:{wire.port}/")
    until(page, "events.readyState === EventSource.OPEN")
    origin.add("While the wire was whole", "Évora")
    page.wait_for_selector("text=While the wire was whole")
    wire.cut()
    page.wait_for_selector("#bar:has-text('has lost its server')")
    expect("nobody has asked for what was missed", wire.said.count(b"Last-Event-ID"), 0)
    origin.add("While the wire was cut", "Évora")
    while "While the wire was cut" not in gallery.text(""):
        page.wait_for_timeout(50)
    wire.mend()
    page.wait_for_selector("text=While the wire was cut", timeout=20_000)
    expect("a browser that comes back says what it saw last", len(re.findall(rb"Last-Event-ID: \w+-\d+\r\n", wire.said)) >= 1)
    expect("and has a page that is up to date", page.locator("#bar").is_visible(), False)
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
    expect("a browser may have more pages open than connections", len(context.pages), 8)
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    until(page, "events && events.readyState === EventSource.OPEN")
    expect("a page that is seen again listens again", gallery.text("metrics").count("feed_serve_event_clients 0"), 0)
    people.leave(page)
    people.pages = [one for one in people.pages if not one.is_closed()]


def scrolling(people, gallery, page):
    page.goto(gallery.address)
    total = gallery.count()
    expect("there are more than a thousand pictures", total > 1000)
    until(page, f"scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#gallery > li').length >= {total}")
    ids = "[...document.querySelectorAll('#gallery > li')].map(one => one.id)"
    expect("all are scrolled through, each once", page.evaluate(f"new Set({ids}).size"), total)
    # What the feeds had before comes next.
    until(page, "scrollTo(0, document.body.scrollHeight), !document.getElementById('more')")
    expect("and what the feeds had, each once", page.evaluate(f"new Set({ids}).size === {ids}.length"))


def keyboard(people, gallery):
    page = people.visit(gallery.address)
    focused = "document.activeElement"
    place = f"[...document.querySelectorAll('#gallery > li')].indexOf({focused}.closest('li'))"
    page.keyboard.press("Tab")
    expect("the keyboard begins with a way past the header", page.evaluate(f"{focused}.className"), "skip")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect("behind which is the first picture", page.evaluate(place), 0)
    columns = page.evaluate("getComputedStyle(document.getElementById('gallery')).gridTemplateColumns.split(' ').length")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect("arrow keys lead from picture to picture", page.evaluate(place), columns + 1)
    page.keyboard.press("Enter")
    page.wait_for_selector("#large[open]")
    until(page, "document.querySelector('#large img').naturalWidth > 0")
    people.keep(page, "large")
    people.accessible(page, "one picture")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    # A browser says that a dialog is closed only after it has given the focus back itself.
    until(page, f"{place} === {columns + 2}")
    expect("a picture is enlarged, and so is the next", page.evaluate(place), columns + 2)
    until(page, "!location.hash.startsWith('#p')")
    expect("and the page is as it was", (page.url, page.locator("#large").is_visible()), (gallery.address + "#main", False))
    page.keyboard.press("End")
    until(page, "document.querySelectorAll('#gallery > li').length > 60")
    expect("the end of the list brings more", cards(page) > 60)
    page.goto(gallery.address)
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("table")
    expect("the keyboard leads to the feeds' health", page.url, gallery.address + "health")
    people.leave(page)


def looks(people, gallery, origin):
    dark = people.visit(gallery.address, color_scheme="dark")
    people.keep(dark, "dark")
    people.accessible(dark, "dark")
    people.leave(dark)
    for name, width, columns in [("narrow", 360, 1), ("narrowest", 320, 1), ("wide", 2560, 6)]:
        page = people.visit(gallery.address, viewport={"width": width, "height": 800})
        people.keep(page, name)
        expect(f"{name}: nothing is cut off", page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        there = page.evaluate("getComputedStyle(document.getElementById('gallery')).gridTemplateColumns.split(' ').length")
        expect(f"{name}: as many columns as fit", there, columns)
        people.accessible(page, name)
        people.leave(page)
    health = people.visit(gallery.address)
    health.goto(gallery.address + "health")
    health.screenshot(path=f"{pictures}/health.png")
    people.accessible(health, "health")
    before = health.locator("tbody tr").first.inner_text()
    origin.stop()
    until(health, "document.querySelectorAll('td.failing').length === 3")
    expect("the feeds' health is live", health.locator("tbody tr").first.inner_text() != before)
    expect("and says since when", re.search(r"unreachable since \d\d:\d\d; saved", health.locator("td.failing").first.inner_text()) is not None)
    health.screenshot(path=f"{pictures}/health-away.png")
    origin.start()
    health.wait_for_selector("td.failing", state="detached")
    people.leave(health)


def filters(people, gallery):
    """Folders, what is new, what is starred, and the window around one picture."""
    page = people.visit(gallery.address)
    page.click("#folders a:has-text('Walks')")
    page.wait_for_url("**folder=Walks**")
    sources = "[...new Set([...document.querySelectorAll('#gallery .source')].map(one => one.innerText))]"
    expect("a folder shows its feeds alone", page.evaluate(sources), ["Mountain diary"])
    people.keep(page, "folder")
    people.accessible(page, "a folder")
    page.fill("#words", "moon")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    expect("words are looked for in it", "folder=Walks" in page.url and "q=moon" in page.url)
    page.locator(".star").first.click()
    page.wait_for_selector(".star[aria-pressed=true]")
    page.click("nav a:has-text('Starred')")
    page.wait_for_url("**starred=1**")
    expect("what is starred has a page", cards(page), 1)
    page.goto(gallery.address + "?new=1")
    expect("what is new has a page", cards(page) == page.locator("#gallery .fresh").count())
    people.keep(page, "new")

    page.goto(gallery.address)
    page.locator(".picture").nth(1).click()
    page.wait_for_selector("#large[open]")
    name = page.evaluate("document.querySelectorAll('#gallery > li')[1].id")
    expect("an enlarged picture has a URL", page.url, gallery.address + "#" + name)
    page.keyboard.press("ArrowRight")
    page.go_back()
    page.wait_for_selector("#large", state="hidden")
    expect("the way back leads to the page", page.url, gallery.address)
    page.goto(gallery.address + "#" + name)
    page.wait_for_selector("#large[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#large", state="hidden")
    expect("a URL of a picture opens it, and is left by closing that", page.url, gallery.address)
    page.fill("#words", "Not a picture")
    until(page, "document.querySelectorAll('#gallery > li').length === 1")
    page.locator(".picture").first.click()
    page.wait_for_selector("#large .reason:has-text('web page where a picture')")
    expect("an enlarged picture that cannot be shown says why", page.locator("#large img").is_visible(), False)
    people.keep(page, "large-missing")
    people.leave(page)


def without_script(people, gallery):
    plain = people.visit(gallery.address, java_script_enabled=False)
    plain.click("#more")
    plain.wait_for_url("**from=60*")
    expect("without a script there are further pages", (cards(plain), "from=60" in plain.url), (60, True))
    plain.click("text=The latest")
    plain.wait_for_url(gallery.address)
    expect("and a way back", plain.url, gallery.address)
    plain.locator(".picture").first.click()
    plain.wait_for_url("**/image/**")
    expect("and each picture", "/image/" in plain.url)
    people.leave(plain)


def hostile(people, gallery, origin):
    page = people.visit(gallery.address)
    page.locator("text=Not a picture").scroll_into_view_if_needed()
    page.wait_for_selector(".missing", state="attached")
    until(page, "[...document.querySelectorAll('#gallery img')].every(one => one.loading === 'lazy' || one.complete)")
    expect("a picture that is none says so", page.locator(".missing").count(), 1)
    page.wait_for_selector(".missing .reason")
    reason = "This picture cannot be shown. The server sent a web page where a picture was expected."
    expect("and why", page.locator(".missing .reason").inner_text().strip(), reason)
    texts = page.evaluate("[...document.querySelectorAll('.description')].map(one => one.innerText)")
    for text in ["<img src=x", "</title></bdi><script>", "'\" onfocus=", "{{1+1}} ${alert(1)} &lt;b&gt;"]:
        expect(f"a description is text: {text}", any(one.startswith(text) for one in texts))
    expect("a long one is cut", max(map(len, texts)) < 600)
    expect("a name is text", page.locator(".source", has_text="<b>Evil</b>").count() > 0)
    sources = page.evaluate("[...document.querySelectorAll('img, a')].map(one => one.src || one.href).filter(Boolean)")
    expect("no address leads elsewhere", [one for one in sources if not one.startswith(gallery.address)], [])
    people.leave(page)
    for place in ["image/..%2f..%2fetc%2fpasswd", "image/http:%2f%2f127.0.0.1%2f", "image/?url=http://127.0.0.1/", "image/x"]:
        expect(f"nothing else is fetched: {place}", status(gallery.address + place), 404)


def elsewhere(people, gallery, origin):
    page = people.browser.new_context().new_page()
    answer = page.goto(f"http://rebind.example:{gallery.port}/")
    expect("a name of somebody else does not lead here", (answer.status, cards(page)), (421, 0))
    page.goto(f"http://127.0.0.1:{origin.port}/elsewhere")
    ask = "address => fetch(address).then(answer => answer.text(), () => 'refused')"
    for path in ["", "feed.json", "metrics"]:
        expect(f"a page elsewhere cannot read /{path}", page.evaluate(ask, gallery.address + path), "refused")
    image = re.search(r"/(image/[^\"?]+)", gallery.text("feed.json"))[1]
    show = ("address => new Promise(done => { const image = new Image(); image.onload = () => done('shown');"
            "image.onerror = () => done('refused'); image.src = address; })")
    expect("nor show its pictures", page.evaluate(show, gallery.address + image), "refused")
    frame = "address => { const frame = document.createElement('iframe'); frame.src = address; document.body.append(frame); }"
    page.evaluate(frame, gallery.address)
    page.wait_for_timeout(300)
    expect("nor be a frame around it", [one.url for one in page.frames if one.url.startswith(gallery.address)], [])
    page.context.close()


def tokens(people, folder, origin):
    gallery = Gallery(
        program, "--host", "0.0.0.0", "--cache", f"{folder}/token.db", f"http://127.0.0.1:{origin.port}/diary.json")
    page = people.page(gallery.address)
    page.goto(gallery.printed)
    page.wait_for_selector("#gallery > li")
    expect("a token does not stay in the address", page.url, gallery.address)
    until(page, "events.readyState === EventSource.OPEN && document.querySelector('#gallery img').naturalWidth > 0")
    origin.write(0, "With a token")
    page.wait_for_selector("text=With a token")
    expect("and all else comes with it", page.locator(".missing").count(), 0)
    people.leave(page)
    for path in ["", "feed.json", "events", "metrics", "script.js", "image/x"]:
        expect(f"without it there is nothing: /{path}", status(gallery.address + path), 401)
    token = gallery.printed.split("token=")[1]
    expect("a reader of feeds sends it", status(gallery.address + "feed.atom", Authorization=f"Bearer {token}"), 200)
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
    origin.hate(50_000, "Not a picture", f"http://127.0.0.1:{origin.port}/page")
    feeds = "".join(
        f'<outline text="{folder_name}"><outline type="rss" text="{title}" xmlUrl="http://127.0.0.1:{origin.port}/{path}"/></outline>'
        for folder_name, title, path in [
            ("Towns", "Harbour walks", "feed.json"), ("Walks", "Mountain diary", "diary.json"), ("Odd & <more>", "", "evil.json")])
    with open(f"{folder}/feeds.opml", "w") as file:
        file.write(f'<opml version="2.0"><body>{feeds}</body></opml>')
    gallery = Gallery(program, "--cache", f"{folder}/feeds.db", "--opml", f"{folder}/feeds.opml")
    gallery.ready()
    people = People(browser, pictures)
    try:
        page = first_visit(people, gallery, origin)
        looks(people, gallery, origin)
        hostile(people, gallery, origin)
        arrivals(people, gallery, origin, page)
        changes(people, gallery, origin, page)
        losses(people, gallery, origin, page)
        scrolling(people, gallery, page)
        reconnection(people, gallery, origin)
        many_tabs(people, gallery)
        keyboard(people, gallery)
        filters(people, gallery)
        without_script(people, gallery)
        elsewhere(people, gallery, origin)
        tokens(people, folder, origin)
        expect("nothing was run, and nobody else was asked", people.complaints, [])
        for address in ADDRESSES:
            expect(f"nor is it asked by the server: {address}", address in origin.asked, False)
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
