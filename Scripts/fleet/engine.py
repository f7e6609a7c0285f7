"""Measures the store's share of a fleet's cost: claims and completions by the real scripts, on a real server, without requests.

Usage: engine.py SOCKET SECONDS, after feed subscriptions import FILE --store unix://SOCKET
"""
import glob, re, socket, sys, textwrap, time

swift = "".join(open(path).read() for path in glob.glob("Sources/Feed*/**/Fleet*.swift", recursive=True))


def value(name):
    """What a number of FleetScripts or FleetRules is."""
    found = re.search(r"static let " + name.split(".")[-1] + r" = (\[?\d[^\n/]*)", swift).group(1)
    return found.strip().strip("[]").replace("_", "")


def literal(name):
    text = re.search("static let " + name + r' = [^"]*"""\n(.*?)\n *"""', swift, re.S).group(1)
    return filled(text) + "\n"


def filled(text):
    return re.sub(r"\\\(([\w.]+)\)", lambda found: value(found[1]), textwrap.dedent(text))


def script(name):
    pieces, text = re.search(r"static let " + name + r' = script\(\s*"' + name + r'",\s*((?:\w+ \+ )*)"""\n(.*?)\n *"""', swift, re.S).groups()
    parts = ["beginning", "guarding", "looking", "tools", *re.findall(r"\w+", pieces)]
    return "#!lua\n" + "".join(literal(part) for part in parts) + filled(text)


server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
stream = server.makefile("rb")


def reply():
    line = stream.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise Exception(rest.decode())
    if kind in b"+":
        return rest
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    return [reply() for _ in range(int(rest))]


def send(*commands):
    out = []
    for words in commands:
        out.append(b"*%d\r\n" % len(words))
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(word), word))
    server.sendall(b"".join(out))
    return [reply() for _ in commands]


claim, complete = (send(("SCRIPT", "LOAD", script(name)))[0] for name in ("claim", "complete"))
record = (
    '{"C":3600,"L":[{"c":1,"d":1800000000000,"o":"status 304, not changed","r":"interval","t":1800000000000,'
    '"w":"the interval is 1 hour"}],"N":20,"W":1800000000000,"a":1800000000000,"c":1800000000000,"d":1800000000000,'
    '"dd":"1xkq2v9k3abcd","e":"\\"5f3e-17c9a\\"","i":3600,"n":1800000000000,"o":"status 304, not changed","p":12,'
    '"r":"interval","s":1800000000000,"w":"the interval is 1 hour","x":"1xkq2v9k3abcd"}'
)


def info(section, name):
    text = send(("INFO", section))[0].decode()
    return re.search(name + r":(\S+)", text).group(1)


def processor():
    return float(info("cpu", "used_cpu_user")) + float(info("cpu", "used_cpu_sys"))


send(("CONFIG", "RESETSTAT"))
feeds = int(send(("HGET", "fs{0}:meta", "feeds"))[0])
memory, begun, used, done, claims, changed = int(info("memory", "used_memory")), time.time(), processor(), 0, 0, 0
images = 0
while time.time() - begun < float(sys.argv[2]):
    now, following, leases, _, _ = send(("EVALSHA", claim, 1, "fs{0}:", 100, 45000, f"n{claims}", "w", 1000, "", ""))[0]
    claims += 1
    if not leases:
        break
    due = int(now) + 3_600_000
    jobs = []
    for number, (host, nonce, address, _, version, *_) in enumerate(leases):
        # A tenth has changed.
        isnew = number % 10 == 0
        document = b"x" * 200 if isnew else b""
        images += len(document)
        changed += isnew
        jobs.append((
            "EVALSHA", complete, 1, "fs{0}:", host, nonce, address, due, 0, "", "", record, version,
            int(now) * 1000 + 1 if isnew or version else "", document, "changed" if isnew else "unchanged", 3600000, host, "", "", "", "",
        ))
    send(*jobs)
    done += len(jobs)
elapsed, used = time.time() - begun, processor() - used
memory = int(info("memory", "used_memory")) - memory
print(f"{feeds} feeds; {claims} claims of 100 and {done} completions ({changed} changed) in {elapsed:.1f} s")
print(f"engine: {used / max(done, 1) * 1e6:.1f} us of processor time per poll, {done / max(used, 1e-9):.0f} polls per second of processor time")
print(f"a million feeds polled hourly are 278 polls per second: {278 * used / max(done, 1) * 100:.2f} % of a processor")
print(f"memory: {(memory - images) / max(done, 1):.0f} bytes per polled feed, besides its images; "
      f"{int(info('memory', 'used_memory')) >> 20} MiB in all")
