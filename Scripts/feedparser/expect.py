"""Runs the `Expect:` comments of feedparser's own documents through FeedFormats.

Only plain comparisons are run: one field of the feed, or of an entry, with a literal. Fields that FeedFormats doesn't
read (authors, categories, rights) are counted separately.
"""
import ast
import collections
import glob
import os
import re
import sys
import time

from inspector import Inspector

inspector = Inspector(sys.argv[1])
tests = sys.argv[2]
shown = len(sys.argv) > 3 and sys.argv[3] or ""

DESCRIPTION = re.compile(r"Description:\s*(.*?)\s*Expect:\s*(.*?)\s*-->", re.S)
COMPARISON = re.compile(r"^(?:not bozo and |bozo and )?((?:feed|entries\[\d+\]|version|encoding|len\(entries\))\S*?) == (.+)$")
VERSIONS = {
    "RSS 0.90": "rss090", "RSS 0.91": "rss091u", "RSS 0.92": "rss092", "RSS 0.93": "rss093", "RSS 0.94": "rss094",
    "RSS 1.0": "rss10", "RSS 2.0": "rss20", "RSS": "rss", "Atom 0.3": "atom03", "Atom 1.0": "atom10",
    "CDF": "cdf", "JSON Feed 1": "json1", "JSON Feed 1.1": "json11",
}


def moment(item):
    return item.get("published") and tuple(time.strptime(item["published"], "%Y-%m-%dT%H:%M:%SZ"))


def images(item, source):
    return [image for image in item["images"] if image["from"] == source]


# What a field of feedparser's is here; the first pattern that fits counts.
FEED = [
    (r"title|title_detail\.value", lambda feed: feed.get("title")),
    (r"link", lambda feed: feed.get("link")),
]
ITEM = [
    (r"title|title_detail\.value", lambda item: item.get("title")),
    (r"link", lambda item: item.get("link")),
    (r"id|guid", lambda item: item.get("guid")),
    (r"summary|description|summary_detail\.value", lambda item: item.get("summary", item.get("content"))),
    (r"content\.0\.value", lambda item: item.get("content", item.get("summary"))),
    (r"published_parsed|updated_parsed", moment),
    (r"where\.coordinates", lambda item: item.get("location")),
    (r"media_thumbnail\.0\.url", lambda item: images(item, "media:thumbnail")[0]["url"]),
    (r"media_content\.0\.url", lambda item: images(item, "media:content")[0]["url"]),
    (r"image\.href", lambda item: images(item, "itunes:image")[0]["url"]),
    (r"enclosures\.0\.href", lambda item: images(item, "enclosure")[0]["url"]),
]


def value(document, path):
    """(True, the value of the path), or (False, None) for what a document does not have here."""
    path = re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", path)
    if path == "version":
        return True, VERSIONS.get(document["format"])
    if path == "encoding":
        return True, document["encoding"].lower()
    if path == "len(entries)":
        return True, len(document["items"])
    place, _, field = path.partition(".")
    if place == "feed":
        holder, table = document, FEED
    else:
        number, _, field = field.partition(".")
        if int(number) >= len(document["items"]):
            return True, None
        holder, table = document["items"][int(number)], ITEM
    for pattern, read in table:
        if re.fullmatch(pattern, field):
            try:
                return True, read(holder)
            except IndexError:
                return True, None
    return False, None


def same(expected, found):
    if isinstance(expected, tuple) and found and len(found) == 9:
        return tuple(expected)[:6] == tuple(found)[:6]
    if isinstance(expected, str) and isinstance(found, str):
        return expected.strip() == found.strip()
    if isinstance(expected, tuple) and isinstance(found, str):
        # A place: longitude first.
        return [f"{number:g}" for number in expected[1::-1]] == [f"{float(part):g}" for part in found.split()]
    return expected == found or expected == "" and found is None


def why(path, field, expected, found, document):
    """The class of a comparison that does not hold."""
    if "error" in document:
        return "FeedFormats rejects the document: " + document["error"]
    folder = os.path.relpath(path, tests).split(os.sep)
    if "sanitize" in folder or "sanitize" in path:
        return "feedparser sanitizes HTML; FeedFormats keeps texts unchanged"
    if field == "encoding":
        return "the encoding's name"
    if field == "version":
        return "the version's name"
    if isinstance(expected, str) and isinstance(found, str):
        bare = lambda text: re.sub(r"[\s/'\"]+", "", re.sub(r"&(?:amp|lt|gt|quot|apos|#\w+);", "", text)).lower()
        if "base" in folder:
            return "feedparser resolves URLs in HTML"
        if bare(expected) == bare(found):
            return "the same HTML, written differently"
        if "<" in found or "<" in expected:
            return "feedparser sanitizes HTML; FeedFormats keeps texts unchanged"
    return "a different value"


total = plain = fields = held = 0
classes = collections.defaultdict(list)
for path in sorted(glob.glob(os.path.join(tests, "**", "*.xml"), recursive=True)):
    with open(path, "rb") as file:
        data = file.read()
    text = data.replace(b"\x00", b"").decode("utf-8", "replace")
    description = DESCRIPTION.search(text)
    if not description:
        continue
    total += 1
    # One line says it; literals of several lines do not occur.
    comparison = COMPARISON.match(description.group(2))
    try:
        expected = ast.literal_eval(comparison.group(2)) if comparison else None
    except (SyntaxError, ValueError):
        comparison = None
    if not comparison:
        continue
    plain += 1
    header = re.search(r"Header:\s*Content-type:.*charset=[\"']?([\w-]+)", text)
    address = re.search(r"Header:\s*Content-Location:\s*(\S+)", text)
    document = inspector.inspect(path, header.group(1) if header else "", address.group(1) if address else "")
    field = comparison.group(1)
    if "error" in document:
        known, found = True, None
    else:
        known, found = value(document, field)
    if not known:
        continue
    fields += 1
    if same(expected, found):
        held += 1
    else:
        classes[why(path, field, expected, found, document)].append((path, field, expected, found))

print(f"{total} documents in feedparser's tests")
print(f"{plain} of them have a plain comparison; in {fields}, it is of a field that FeedFormats reads")
print(f"{held} of these comparisons are true")
for name, cases in sorted(classes.items(), key=lambda entry: -len(entry[1])):
    print(f"{len(cases):5} are false: {name}")
    if shown in ("all", name.split()[0]):
        for path, field, expected, found in cases:
            print(f"        {os.path.relpath(path, tests)}: {field}\n          expected {expected!r}\n          found    {found!r}")
