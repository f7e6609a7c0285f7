"""What a script does in the place of `feed load --format json`: compare-python runs it."""
import json, sqlite3, sys, urllib.parse, urllib.request

address, path = sys.argv[1:]
with urllib.request.urlopen(address) as answer:
    items = json.load(answer)["items"]
database = sqlite3.connect(path)
database.execute("CREATE TABLE image (position INTEGER PRIMARY KEY, id TEXT, description TEXT, location TEXT, url TEXT)")
rows = ((i, one["id"], one.get("description"), one.get("location"), one["image"]) for i, one in enumerate(items))
with database:
    database.executemany("INSERT INTO image VALUES (?, ?, ?, ?, ?)", rows)
names = [("id", "id"), ("description", "description"), ("location", "location"), ("url", "image")]
feed = [
    {name: one[key] for name, key in names if key in one} | {"images": [{"url": one["image"]}]} for one in items
]
title = urllib.parse.urlsplit(address).hostname
document = {"version": 1, "url": address, "title": title, "origin": "remote", "feed": feed}
print(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
