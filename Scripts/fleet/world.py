"""A fleet on its own servers, and the rules that must hold in it: used by faults.py, failover.py, cut.py and torture.py."""
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

    def __init__(self, world, ports, host="127.0.0.1", token=None):
        super().__init__(daemon=True)
        self.host, self.headers = host, {"Authorization": f"Bearer {token}"} if token else {}
        self.world, self.ports, self.id, self.versions, self.events, self.resets = world, ports, None, {}, 0, 0
        # The updates that it has seen, by when, and when it was last told to forget them.
        self.seen, self.told = {}, time.time()

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
        connection = http.client.HTTPConnection(self.host, port, timeout=20)
        headers = {**self.headers, "Last-Event-ID": self.id} if self.id else self.headers
        connection.request("GET", "/events", headers=headers)
        name = ""
        for line in connection.getresponse():
            line = line.decode().strip()
            if line.startswith("id: "):
                self.id = line[4:]
            elif line.startswith("event: "):
                name = line[7:]
                if name == "reset":
                    self.resets, self.versions, self.seen, self.told = self.resets + 1, {}, {}, time.time()
            elif line.startswith("data: ") and name == "items":
                data = json.loads(line[6:])
                if "feed" in data:
                    self.events += 1
                    if data["updated"] < self.versions.get(data["feed"], 0):
                        self.world.set_back += 1
                        self.world.problems.append(f"a client received an older version of {data['feed']}")
                    self.versions[data["feed"]] = data["updated"]
                    self.seen.setdefault((data["feed"], data["updated"]), time.time())


class World:
    """Origins on some addresses of this machine, and the processes of a fleet."""

    def __init__(self, feed, store, lease="4s", hosts=6, feeds=2, every="2s", network="127.0.0", least=0.9):
        self.feed, self.store, self.lease, self.every, self.least = os.path.abspath(feed), store, lease, every, least
        self.callers = {}
        self.lost, self.set_back, self.checked, self.is_quiet = 0, 0, time.time(), False
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
        self.stalled = 0.0
        threading.Thread(target=self.watch, daemon=True).start()
        self.port = self.origin.server_address[1]
        self.expected = [f"{network}.{host}:{self.port}/{number}" for host in range(2, 2 + hosts) for number in range(feeds)]

    def watch(self):
        """Notes when the machine is so busy that a request is not seen when it comes."""
        while True:
            before = time.time()
            time.sleep(0.05)
            if time.time() - before > 0.15:
                self.stalled = time.time()

    def asked(self, request):
        now, host = time.time(), request.headers["Host"]
        if now > max(self.muted, self.stalled + 4) and now - self.last.get(host, 0) < self.least:
            self.problems.append(f"{host} was requested again after {now - self.last[host]:.2f} s")
        self.last[host] = now
        caller = request.client_address[0]
        self.callers[caller] = self.callers.get(caller, 0) + 1
        key = host + request.path
        self.polls[key] = self.polls.get(key, 0) + 1
        number = 0 if self.is_quiet else self.polls[key]
        item = {"id": "11111111-1111-1111-1111-%012d" % number, "image": "http://127.0.0.1/x.jpg"}
        body = json.dumps({"items": [item]}).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        try:
            request.end_headers()
            request.wfile.write(body)
        except OSError:
            pass  # The worker was killed.

    def cli(self, *words):
        """The reply of the server that was started last."""
        return subprocess.run(["redis-cli", *self.cli_words, *words], capture_output=True, text=True).stdout

    def mute(self, seconds):
        """The time for which two workers may poll the same host."""
        self.muted = time.time() + seconds

    def start(self, *words, before=(), **options):
        """Starts the command, by what stands `before` it."""
        with open(self.folder + "/errors", "a") as errors:
            process = subprocess.Popen([*before, self.feed, *words, "--store", self.store], stderr=errors, **options)
        self.processes.append(process)
        return process

    def add(self):
        with open(self.folder + "/list", "w") as file:
            file.writelines(f"http://{key}\n" for key in self.expected)
        words = [self.feed, "subscriptions", "import", self.folder + "/list", "--store", self.store]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()

    def worker(self, before=()):
        words = ["work", "--every", self.every, "--lease", self.lease, "--timeout", "2s"]
        return self.start(*words, before=before, stdout=subprocess.DEVNULL)

    def gateway(self, port=0, before=(), words=()):
        process = self.start("serve", "--port", str(port), *words, before=before, stdout=subprocess.PIPE, text=True)
        return process, int(process.stdout.readline().split(":")[2].split("/")[0])

    def clients(self, count, ports, **options):
        clients = [Client(self, ports, **options) for _ in range(count)]
        for client in clients:
            client.start()
        return clients

    def until_polled(self, what, patience):
        """Waits until every feed was asked for once more."""
        before, start = dict(self.polls), time.time()
        while time.time() - start < patience:
            if all(self.polls.get(key, 0) > before.get(key, 0) for key in self.expected):
                took = time.time() - start
                say(f"{what}: every feed was requested again after {took:.1f} s")
                return took
            time.sleep(0.1)
        missing = [key for key in self.expected if self.polls.get(key, 0) <= before.get(key, 0)]
        self.problems.append(f"{what}: {len(missing)} feeds were not requested within {patience} s")

    def wait_for(self, what, patience, condition):
        start = time.time()
        while not condition():
            if time.time() - start > patience:
                return self.problems.append(f"{what}: not within {patience} s")
            time.sleep(0.1)

    def check(self, clients, late=15):
        """Looks whether each client has what one was given `late` seconds ago, or before: that version of the feed, or a newer one."""
        until = time.time() - late
        first = {}
        for client in clients:
            for update, when in list(client.seen.items()):
                first[update] = min(when, first.get(update, when))
        for update, when in first.items():
            if not self.checked < when <= until:
                continue
            feed, version = update
            missing = [
                client for client in clients if client.told < when - late and client.versions.get(feed, 0) < version]
            if missing:
                self.lost += 1
                self.problems.append(f"{len(missing)} of {len(clients)} clients never saw {update}")
        self.checked = until
        for client in clients:
            for update, when in list(client.seen.items()):
                if when < until - 120:
                    client.seen.pop(update, None)

    def quiet_down(self, clients):
        """Stops all changes, and checks that each client has the newest version of each feed."""
        self.is_quiet = True
        for client in clients:
            client.versions = {}
        # One more change, to what stays.
        self.until_polled("quiet", 60)
        keys = {"http://" + key for key in self.expected}
        self.wait_for("every client has every feed", 60, lambda: all(client.versions.keys() >= keys for client in clients))
        self.wait_for(
            "every client has the same versions", 20, lambda: all(client.versions == clients[0].versions for client in clients))
        return f"{len(clients)} clients have the same versions of {len(keys)} feeds"

    def finish(self, running, clients):
        """Ends what runs as Ctrl-C does."""
        events, resets = sum(client.events for client in clients), sum(client.resets for client in clients)
        say(f"{sum(self.polls.values())} polls; {len(clients)} clients received {events} events and {resets} resets")
        if any(client.events == 0 for client in clients):
            self.problems.append("a client received no event")
        start = time.time()
        for process in running:
            process.send_signal(signal.SIGINT)
        codes = [process.wait(20) for process in running]
        say(f"all processes exited after {time.time() - start:.1f} s, with the statuses {codes}")
        if codes != [130] * len(running):
            self.problems.append("a process did not exit with the status for Ctrl-C")

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
    world.cli_words = cli
    for _ in range(200):
        if world.cli("ping") == "PONG\n":
            return process
        time.sleep(0.05)
    sys.exit(f"{words[0]} did not start")
