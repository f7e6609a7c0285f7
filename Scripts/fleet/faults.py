"""Workers, gateways and clients on a real server, and what happens to them: killed, stopped, frozen, emptied.

Usage: faults.py FEED, the path of the command. Needs redis-server. Takes about a minute and a half.
"""
import http.client, http.server, json, os, shutil, signal, subprocess, sys, tempfile, threading, time

feed = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp(prefix="fleet-")
sock, problems, begun = folder + "/s", [], time.time()
polls, last, muted = {}, {}, [0.0]


def say(text):
    print(f"{time.time() - begun:5.1f} s  {text}", flush=True)


class Origin(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        now, host = time.time(), self.headers["Host"]
        if now > muted[0] and now - last.get(host, 0) < 0.9:
            problems.append(f"{host} was asked again after {now - last[host]:.2f} s")
        last[host] = now
        polls[host + self.path] = polls.get(host + self.path, 0) + 1
        item = {"id": "11111111-1111-1111-1111-%012d" % polls[host + self.path], "image": "http://127.0.0.1/x.jpg"}
        body = json.dumps({"items": [item]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


origin = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Origin)
threading.Thread(target=origin.serve_forever, daemon=True).start()
port = origin.server_address[1]
store = "unix://" + sock


def server():
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
    while subprocess.run(["redis-cli", "-s", sock, "ping"], capture_output=True).stdout != b"PONG\n":
        time.sleep(0.05)
    return process


def command(*words, **options):
    return subprocess.Popen([feed, *words, "--store", store], stderr=open(folder + "/errors", "a"), **options)


def add():
    with open(folder + "/list", "w") as file:
        for host in range(2, 8):
            for number in range(2):
                file.write(f"http://127.0.0.{host}:{port}/{number}\n")
    return subprocess.run([feed, "subscriptions", "import", folder + "/list", "--store", store], capture_output=True, text=True)


def worker():
    return command("work", "--every", "2s", "--lease", "4s", "--timeout", "2s", stdout=subprocess.DEVNULL)


class Client(threading.Thread):
    """A client of a gateway, which sees no feed go back but after a reset, and goes on with any other gateway."""

    def __init__(self, ports):
        super().__init__(daemon=True)
        self.ports, self.id, self.versions, self.events, self.resets = ports, None, {}, 0, 0

    def run(self):
        turn = 0
        while True:
            turn += 1
            try:
                self.read(self.ports[turn % len(self.ports)])
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.2)

    def read(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/events", headers={"Last-Event-ID": self.id} if self.id else {})
        name = ""
        for line in connection.getresponse():
            line = line.decode().strip()
            if line.startswith("id: "):
                self.id = line[4:]
            elif line.startswith("event: "):
                name = line[7:]
                if name == "reset":
                    self.resets, self.versions = self.resets + 1, {}
            elif line.startswith("data: ") and name == "items":
                data = json.loads(line[6:])
                if "feed" in data:
                    self.events += 1
                    if data["updated"] < self.versions.get(data["feed"], 0):
                        problems.append(f"{data['feed']} went back at a client")
                    self.versions[data["feed"]] = data["updated"]


def until_polled(what, patience):
    """Waits until every feed was asked for once more."""
    before, start = dict(polls), time.time()
    while time.time() - start < patience:
        if all(polls.get(key, 0) > before.get(key, 0) for key in expected):
            return say(f"{what}: every feed was asked for again after {time.time() - start:.1f} s")
        time.sleep(0.1)
    missing = [key for key in expected if polls.get(key, 0) <= before.get(key, 0)]
    problems.append(f"{what}: {len(missing)} feeds were not asked for within {patience} s")


expected = [f"127.0.0.{host}:{port}/{number}" for host in range(2, 8) for number in range(2)]
redis, processes = server(), []
try:
    say(add().stdout.strip())
    workers = [worker() for _ in range(3)]
    gateways = [subprocess.Popen(
        [feed, "serve", "--port", "0", "--store", store], stdout=subprocess.PIPE, stderr=open(folder + "/errors", "a"), text=True)
        for _ in range(2)]
    processes = workers + gateways
    ports = [int(gateway.stdout.readline().split(":")[2].split("/")[0]) for gateway in gateways]
    clients = [Client(ports) for _ in range(20)]
    for client in clients:
        client.start()
    until_polled("began", 20)
    until_polled("as usual", 20)
    workers[0].kill()
    until_polled("a worker was killed", 20)
    workers[1].send_signal(signal.SIGSTOP)
    time.sleep(6)
    muted[0] = time.time() + 3
    workers[1].send_signal(signal.SIGCONT)
    until_polled("a worker was stopped beyond its lease", 20)
    gateways[0].kill()
    until_polled("a gateway was killed", 20)
    redis.send_signal(signal.SIGSTOP)
    time.sleep(5)
    muted[0] = time.time() + 3
    redis.send_signal(signal.SIGCONT)
    until_polled("the store stood still for 5 s", 30)
    resets = sum(client.resets for client in clients)
    if resets:
        problems.append(f"{resets} needless resets")
    redis.kill()
    redis.wait()
    time.sleep(2)
    redis = server()
    time.sleep(1)
    muted[0] = time.time() + 5
    say("the store came back empty; " + add().stdout.strip())
    until_polled("the store came back empty", 40)
    time.sleep(8)
    say(f"{sum(polls.values())} polls; {len(clients)} clients had {sum(client.events for client in clients)} events, "
        f"{sum(client.resets for client in clients)} resets")
    if any(client.resets == 0 for client in clients):
        problems.append("a client was not told that the log went back")
    start = time.time()
    for process in [workers[1], workers[2], gateways[1]]:
        process.send_signal(signal.SIGINT)
    codes = [process.wait(20) for process in [workers[1], workers[2], gateways[1]]]
    say(f"ended with {codes} after {time.time() - start:.1f} s")
    if codes != [130, 130, 130]:
        problems.append("not ended as Ctrl-C ends")
finally:
    for process in processes + [redis]:
        if process.poll() is None:
            process.kill()
    for text in problems:
        print("PROBLEM:", text)
    shutil.rmtree(folder, ignore_errors=True)
sys.exit(1 if problems else 0)
