"""A fleet on servers of its own, and what holds in it: shared by faults.py and failover.py."""
import http.client, http.server, json, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time

begun = time.time()


def say(text):
    print(f"{time.time() - begun:5.1f} s  {text}", flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Client(threading.Thread):
    """A client of a gateway, which sees no feed go back but after a reset, and goes on with any other gateway."""

    def __init__(self, world, ports):
        super().__init__(daemon=True)
        self.world, self.ports, self.id, self.versions, self.events, self.resets = world, ports, None, {}, 0, 0

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
                        self.world.problems.append(f"{data['feed']} went back at a client")
                    self.versions[data["feed"]] = data["updated"]


class World:
    """Origins on six addresses of this machine, and the processes of a fleet."""

    def __init__(self, feed, store, lease="4s"):
        self.feed, self.store, self.lease = os.path.abspath(feed), store, lease
        self.folder = tempfile.mkdtemp(prefix="fleet-")
        self.problems, self.processes, self.polls, self.last, self.muted = [], [], {}, {}, 0.0
        world = self

        class Origin(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                world.asked(self)

            def log_message(self, *_):
                pass

        self.origin = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Origin)
        threading.Thread(target=self.origin.serve_forever, daemon=True).start()
        self.port = self.origin.server_address[1]
        self.expected = [f"127.0.0.{host}:{self.port}/{number}" for host in range(2, 8) for number in range(2)]

    def asked(self, request):
        now, host = time.time(), request.headers["Host"]
        if now > self.muted and now - self.last.get(host, 0) < 0.9:
            self.problems.append(f"{host} was asked again after {now - self.last[host]:.2f} s")
        self.last[host] = now
        key = host + request.path
        self.polls[key] = self.polls.get(key, 0) + 1
        item = {"id": "11111111-1111-1111-1111-%012d" % self.polls[key], "image": "http://127.0.0.1/x.jpg"}
        body = json.dumps({"items": [item]}).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def mute(self, seconds):
        """A host may be asked by two workers for so long."""
        self.muted = time.time() + seconds

    def start(self, *words, **options):
        errors = open(self.folder + "/errors", "a")
        process = subprocess.Popen([self.feed, *words, "--store", self.store], stderr=errors, **options)
        self.processes.append(process)
        return process

    def add(self):
        with open(self.folder + "/list", "w") as file:
            file.writelines(f"http://{key}\n" for key in self.expected)
        words = [self.feed, "subscriptions", "import", self.folder + "/list", "--store", self.store]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()

    def worker(self):
        return self.start(
            "work", "--every", "2s", "--lease", self.lease, "--timeout", "2s", stdout=subprocess.DEVNULL)

    def gateway(self):
        process = self.start("serve", "--port", "0", stdout=subprocess.PIPE, text=True)
        return process, int(process.stdout.readline().split(":")[2].split("/")[0])

    def clients(self, count, ports):
        clients = [Client(self, ports) for _ in range(count)]
        for client in clients:
            client.start()
        return clients

    def until_polled(self, what, patience):
        """Waits until every feed was asked for once more."""
        before, start = dict(self.polls), time.time()
        while time.time() - start < patience:
            if all(self.polls.get(key, 0) > before.get(key, 0) for key in self.expected):
                return say(f"{what}: every feed was asked for again after {time.time() - start:.1f} s")
            time.sleep(0.1)
        missing = [key for key in self.expected if self.polls.get(key, 0) <= before.get(key, 0)]
        self.problems.append(f"{what}: {len(missing)} feeds were not asked for within {patience} s")

    def finish(self, running, clients):
        """Ends what runs as Ctrl-C does."""
        events, resets = sum(client.events for client in clients), sum(client.resets for client in clients)
        say(f"{sum(self.polls.values())} polls; {len(clients)} clients had {events} events, {resets} resets")
        if any(client.events == 0 for client in clients):
            self.problems.append("a client had no event")
        start = time.time()
        for process in running:
            process.send_signal(signal.SIGINT)
        codes = [process.wait(20) for process in running]
        say(f"ended with {codes} after {time.time() - start:.1f} s")
        if codes != [130] * len(running):
            self.problems.append("not ended as Ctrl-C ends")

    def end(self):
        """Ends everything. Returns the status of the script."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for text in sorted(set(self.problems)):
            print("PROBLEM:", text)
        if self.problems:
            print(open(self.folder + "/errors").read()[-2000:])
        shutil.rmtree(self.folder, ignore_errors=True)
        return 1 if self.problems else 0


def server(world, *words, cli):
    """A server that answers."""
    process = subprocess.Popen(list(words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    world.processes.append(process)
    for _ in range(200):
        if subprocess.run(["redis-cli", *cli, "ping"], capture_output=True).stdout == b"PONG\n":
            return process
        time.sleep(0.05)
    sys.exit(f"{words[0]} did not start")
