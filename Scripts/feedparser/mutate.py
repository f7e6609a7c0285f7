"""Mutates documents, and compares the number of items and their URLs as read by FeedFormats and by feedparser.

feedparser isn't a specification: a document that differs for a known reason (see `excuse`) is counted under that reason,
not as a difference. A seed always makes the same documents.
"""
import collections
import glob
import os
import random
import re
import sys
import tempfile

import feedparser

from inspector import Inspector

inspector = Inspector(sys.argv[1])
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
feedparser.SANITIZE_HTML = 0
feedparser.RESOLVE_RELATIVE_URIS = 0

ITEM = """<item><title>Title {n} &amp; more</title><link>https://e.com/{n}?a=1&amp;b=2</link><guid isPermaLink="false">g{n}</guid>
<pubDate>Thu, 0{n} Jan 2004 19:48:21 GMT</pubDate><description>&lt;p&gt;Text {n} caf\u00e9&lt;/p&gt;</description>
<content:encoded><![CDATA[<p>Long <b>{n}</b></p>]]></content:encoded><enclosure url="https://e.com/{n}.jpg" type="image/jpeg" length="1"/>
<media:content url="https://e.com/m{n}.jpg" medium="image"/></item>
"""
ENTRY = """<entry><id>tag:{n}</id><title type="html">Title &lt;b&gt;{n}&lt;/b&gt;</title><link rel="alternate" href="https://e.com/{n}?a=1&amp;b=2"/>
<updated>2004-01-0{n}T00:00:00Z</updated><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>x {n}</p></div></content>
<link rel="enclosure" type="image/png" href="https://e.com/{n}.png"/></entry>
"""
SEEDS = [
    '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Feed</title><link>https://e.com/</link>\n'
    + "".join(ITEM.format(n=n) for n in range(1, 6)) + "</channel></rss>",
    '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title><id>tag:feed</id>\n'
    + "".join(ENTRY.format(n=n) for n in range(1, 6)) + "</feed>",
]
FAULTS = [
    lambda text, r: text.replace("&amp;b", "&b"),
    lambda text, r: text.replace("&amp;", "&"),
    lambda text, r: at(text, r, "&nbsp;&eacute;", after="<title>"),
    lambda text, r: at(text, r, "1 < 2 ", after="<title>"),
    lambda text, r: "\n \n" + text,
    lambda text, r: "<br />\n<b>Warning</b>: in <b>x.php</b> on line <b>3</b><br />\n" + text,
    lambda text, r: text + "\n<!-- 0.2 s --><script>x()</script>",
    lambda text, r: text.replace(' type="image/', ' type=image/').replace('jpeg" length', 'jpeg length').replace('png" href', "png href"),
    lambda text, r: drop(text, r, ["</title>", "</link>", "</description>", "</item>", "</entry>", "</id>", "]]>"]),
    lambda text, r: swap(text, r, ["</title>", "</guid>", "</id>"], "</other>"),
    lambda text, r: text.replace(' xmlns:media="http://search.yahoo.com/mrss/"', ""),
    lambda text, r: at(text, r, "\x0b\x1b", after="<title>"),
    lambda text, r: at(text, r, "<p>unclosed<br>", after="<description>"),
    lambda text, r: at(text, r, "<!-- a -- b -->", after="</link>"),
    lambda text, r: text[: r.randrange(len(text))],
    lambda text, r: text.replace("utf-8", r.choice(["UTF-16", "klingon", "us-ascii"]), 1),
    lambda text, r: text.replace("</channel></rss>", "").replace("</feed>", ""),
    lambda text, r: at(text, r, "&#xD800;&#0;&#x110000;", after="<title>"),
    lambda text, r: flip(text, r),
]


def places(text, part):
    return [match.end() for match in re.finditer(re.escape(part), text)]


def at(text, r, addition, after):
    found = places(text, after)
    place = r.choice(found) if found else len(text)
    return text[:place] + addition + text[place:]


def drop(text, r, parts):
    return swap(text, r, parts, "")


def swap(text, r, parts, other):
    part = r.choice(parts)
    found = places(text, part)
    if not found:
        return text
    place = r.choice(found)
    return text[: place - len(part)] + other + text[place:]


def flip(text, r):
    place = r.randrange(len(text))
    return text[:place] + r.choice(["", text[place] * 2, r.choice("<>&\"'/=;![]- x")]) + text[place + 1 :]


def mutated(r):
    text = r.choice(SEEDS)
    names = r.sample(range(len(FAULTS)), r.choice([1, 1, 1, 2, 2, 3]))
    for name in names:
        text = FAULTS[name](text, r)
    data = text.encode("utf-8", "surrogatepass")
    if r.random() < 0.1:
        data = data.replace("é".encode(), b"\xe9")
    return data, names


def theirs(data):
    document = feedparser.parse(data)
    found = []
    for entry in document.entries:
        images = [link.get("href") for link in entry.get("enclosures", [])] + [
            media.get("url") for media in entry.get("media_content", [])]
        found.append((entry.get("link"), tuple(sorted(image for image in images if image))))
    return found


def ours(path):
    document = inspector.inspect(path)
    return [
        (item.get("link"), tuple(sorted(image["url"] for image in item["images"] if image["from"] in ("enclosure", "media:content"))))
        for item in document.get("items", [])]


def addresses(items):
    return [address for link, images in items for address in (link,) + images if address]


GENUINE = {f"https://e.com/{n}{end}" for n in range(1, 6) for end in ("?a=1&b=2", ".jpg", ".png")} | {
    f"https://e.com/m{n}.jpg" for n in range(1, 6)}


def verdict(one, other):
    """What the two lists say, ours first. The undamaged document names `GENUINE` addresses, five of each kind."""
    if one == other:
        return "the same"
    wrong = lambda items: sum(address not in GENUINE for address in addresses(items))
    right = lambda items: sum(address in GENUINE for address in addresses(items))
    mine, their = (len(one), right(one), -wrong(one)), (len(other), right(other), -wrong(other))
    if mine[0] >= their[0] and mine[1] >= their[1] and mine[2] >= their[2]:
        return "FeedFormats reads more, or more of it unaltered"
    if mine[0] <= their[0] and mine[1] <= their[1] and mine[2] <= their[2]:
        return "FeedFormats reads LESS"
    return "different"


r = random.Random(seed)
counts = collections.Counter()
by_fault = collections.Counter()
kept = os.environ.get("KEEP")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "document")
    for run in range(runs):
        data, names = mutated(r)
        with open(path, "wb") as file:
            file.write(data)
        try:
            other = theirs(data)
        except Exception as error:  # feedparser raises for some characters' numbers
            counts["feedparser raises " + type(error).__name__] += 1
            inspector.inspect(path)
            continue
        one = ours(path)
        result = verdict(one, other)
        counts[result] += 1
        if result in ("FeedFormats reads LESS", "different"):
            by_fault[tuple(names)] += 1
            if kept:
                os.makedirs(kept, exist_ok=True)
                name = os.path.join(kept, f"{run}")
                with open(name, "wb") as file:
                    file.write(data)
                with open(name + ".txt", "w") as file:
                    print(names, result, "\nours  ", one, "\ntheirs", other, file=file)

for name, count in counts.most_common():
    print(f"{count:7} {name}")
for names, count in by_fault.most_common(12):
    print(f"        {count} with the faults {names}")
