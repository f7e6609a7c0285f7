"""Tests Examples/Fetch against a server built on h11, which checks every byte of its requests.

usage: origin.py <Fetch>
"""

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading

import h11

PROGRAM = sys.argv[1]
LENGTHS = [0, 1, 1000, 65_535, 65_536, 1 << 20, 5 << 20]
checks = 0
seen = []


def check(is_right, what):
    global checks
    checks += 1
    if not is_right:
        sys.exit(f"FAILED: {what}")


class Peer:
    """The server's end of a connection."""

    def __init__(self, connection):
        self.http, self.socket = h11.Connection(h11.SERVER), connection

    def next(self):
        while True:
            event = self.http.next_event()
            if event is not h11.NEED_DATA:
                return event
            self.http.receive_data(self.socket.recv(1 << 16))

    def send(self, *events):
        for event in events:
            self.socket.sendall(self.http.send(event) or b"")

    def body(self):
        parts = []
        while not isinstance(event := self.next(), h11.EndOfMessage):
            parts.append(bytes(event.data))
        return b"".join(parts)

    def answer(self, status, body=b"", headers=()):
        fields = [("Content-Length", str(len(body))), *headers]
        self.send(h11.Response(status_code=status, headers=fields))
        if body and self.request.method != b"HEAD":
            self.send(h11.Data(data=body))
        self.send(h11.EndOfMessage())

    def serve(self):
        while True:
            event = self.next()
            if not isinstance(event, h11.Request):
                return
            self.request, self.fields = event, {name: value for name, value in event.headers}
            path = event.target.split(b"?")[0].decode()
            seen.append((event.method.decode(), path, self.fields))
            getattr(self, "on_" + path.strip("/").replace("/", "_"))()
            if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
                return
            self.http.start_next_cycle()

    def on_echo(self):
        if self.http.they_are_waiting_for_100_continue:
            self.send(h11.InformationalResponse(status_code=100, headers=[]))
        self.answer(200, self.body(), [("X-Framing", "chunked" if b"transfer-encoding" in self.fields else "length")])

    def on_chunks(self):
        self.body()
        self.send(h11.Response(status_code=200, headers=[("Transfer-Encoding", "chunked"), ("Trailer", "X-After")]))
        for number in range(100):
            self.send(h11.Data(data=b"%d;" % number))
        self.send(h11.EndOfMessage(headers=[("X-After", "1")]))

    def on_hints(self):
        self.body()
        self.send(h11.InformationalResponse(status_code=103, headers=[("Link", "</a.css>; rel=preload")]))
        self.answer(200, b"after hints")

    def on_refused(self):
        """Without reading the body."""
        self.answer(413, b"too long", [("Connection", "close")])

    def on_303(self):
        self.body()
        self.answer(303, b"", [("Location", "/echo")])

    def on_307(self):
        if self.http.they_are_waiting_for_100_continue:
            self.send(h11.InformationalResponse(status_code=100, headers=[]))
        self.body()
        self.answer(307, b"", [("Location", "/echo")])

    def on_short(self):
        self.body()
        self.send(h11.Response(status_code=200, headers=[("Content-Length", "10")]), h11.Data(data=b"short"))

    def on_events(self):
        self.body()
        last = self.fields.get(b"last-event-id", b"0").decode()
        if int(last) >= 9:
            return self.answer(204)
        self.send(h11.Response(status_code=200, headers=[("Content-Type", "text/event-stream")]))
        for number in range(int(last) + 1, int(last) + 4):
            self.send(h11.Data(data=f"retry: 5\nid: {number}\ndata: {number}\n\n".encode()))
        # Cut in the middle of an event.
        self.send(h11.Data(data=b"id: 99\ndata: never"))


def run(*words, body=None):
    ran = subprocess.run([PROGRAM, *words], input=body or b"", capture_output=True, timeout=60)
    head, _, rest = ran.stdout.partition(b"\n\n")
    return ran.returncode, head.decode(), rest, ran.stderr.decode()


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    broken = []

    def serve(connection):
        try:
            with connection:
                connection.settimeout(30)
                Peer(connection).serve()
        except h11.RemoteProtocolError as error:
            broken.append(error)
        except OSError:
            pass

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    numbers = random.Random(7)

    for length in LENGTHS:
        body = numbers.randbytes(length)
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            for method in ("POST", "PUT", "PATCH"):
                status, head, back, errors = run(method, f"{base}/echo", "--body", file.name)
                check(status == 0 and head.startswith("200 OK") and back == body, f"{method} with a body of {length} bytes: {head} {errors}")
                check("X-Framing: length" in head, f"a file of {length} bytes is sent with its length")
            status, _, back, _ = run("POST", f"{base}/303", "--body", file.name)
            check(status == 0 and back == b"" and seen[-1][:2] == ("GET", "/echo"), "a 303 redirect becomes GET")
            check(b"content-type" not in seen[-1][2] and b"content-length" not in seen[-1][2], "the GET after a 303 redirect has no body")
            status, _, back, errors = run("PUT", f"{base}/307", "--body", file.name)
            check(status == 0 and back == body and seen[-1][:2] == ("PUT", "/echo"), f"a 307 redirect repeats a body of {length} bytes: {errors}")
        status, head, back, errors = run("POST", f"{base}/echo", "--body", "-", body=body)
        check(status == 0 and back == body, f"a stream of {length} bytes: {head} {errors}")
        check("X-Framing: chunked" in head and seen[-1][2].get(b"expect") == b"100-continue", "a stream is sent in chunks")
        status, head, _, _ = run("POST", f"{base}/refused", "--body", "-", body=body)
        check(head.startswith("413"), f"a stream of {length} bytes is refused unread: {head}")
    status, _, _, errors = run("POST", f"{base}/307", "--body", "-", body=b"once")
    check(status == 1 and errors, "a stream is not repeated")

    for method in ("GET", "DELETE", "OPTIONS"):
        status, head, back, _ = run(method, f"{base}/chunks", "--header", "X-Own: κ")
        check(status == 0 and back == b"".join(b"%d;" % number for number in range(100)), f"a chunked response to {method}")
        check(seen[-1][0] == method and seen[-1][2][b"x-own"] == "κ".encode(), "a custom header field")
    status, head, back, _ = run("HEAD", f"{base}/echo")
    check(status == 0 and head.startswith("200 OK") and back == b"", "a response to HEAD has no body")
    status, head, back, _ = run("GET", f"{base}/hints")
    check(status == 0 and head.startswith("200 OK") and back == b"after hints", f"a response after 103 Early Hints: {head}")
    status, _, _, errors = run("GET", f"{base}/short")
    check(status == 1 and errors, "a body that is cut short is an error")
    status, _, _, _ = run("POST", f"{base}/echo", "--body", "/nowhere")
    check(status == 1, "a missing file is an error")

    ran = subprocess.run([PROGRAM, "events", f"{base}/events"], capture_output=True, timeout=60, text=True)
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    check(ran.returncode == 0, f"204 ends the events: {ran.stderr}")
    check([event["id"] for event in events] == [str(number) for number in range(1, 10)], f"event streams that are cut off: {events}")
    check(not broken, f"h11 found: {broken}")
    print(f"{checks} checks with h11 {h11.__version__} as the server: all passed")
    sys.stdout.flush()
    os._exit(0)


main()
