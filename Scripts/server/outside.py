"""Tests Examples/LiveEvents with third-party clients: h11 reads every byte of its responses, httpx-sse its events."""

import re
import socket
import subprocess
import sys

import h11
import httpx
import httpx_sse

base = sys.argv[1]
port = int(base.rsplit(":", 1)[1])
host = [("Host", f"127.0.0.1:{port}")]


class Client:
    """A connection whose answers h11 checks."""

    def __init__(self):
        self.http = h11.Connection(h11.CLIENT)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)

    def ask(self, method, target, body=b"", headers=(), cut=None):
        fields = host + list(headers)
        if body and not any(name == "Transfer-Encoding" for name, _ in fields):
            fields.append(("Content-Length", str(len(body))))
        data = self.http.send(h11.Request(method=method, target=target, headers=fields))
        if body:
            data += self.http.send(h11.Data(data=body))
        data += self.http.send(h11.EndOfMessage())
        for start in range(0, len(data), cut or len(data)):
            self.socket.sendall(data[start : start + (cut or len(data))])
        status, received, interim = None, b"", []
        while True:
            event = self.http.next_event()
            if event is h11.NEED_DATA:
                self.http.receive_data(self.socket.recv(65536))
            elif isinstance(event, h11.InformationalResponse):
                interim.append(event.status_code)
            elif isinstance(event, h11.Response):
                status = event
            elif isinstance(event, h11.Data):
                received += bytes(event.data)
            elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                break
        if self.http.our_state is h11.DONE and self.http.their_state is h11.DONE:
            self.http.start_next_cycle()
        return status.status_code, received, interim


def expect(what, value, wanted):
    if value != wanted:
        sys.exit(f"FAILED: {what}: expected {wanted!r}, but found {value!r}")
    print(f"ok: {what}")


client = Client()
status, page, _ = client.ask("GET", "/")
expect("a page on a connection that is kept open", (status, b"EventSource" in page), (200, True))
expect("a response to HEAD has no body", client.ask("HEAD", "/")[:2], (200, b""))
expect("the same page for a request that is sent byte by byte", client.ask("GET", "/", cut=1)[:2], (200, page))
expect("a path without a route", client.ask("GET", "/nothing")[0], 404)
expect("a method without a route", client.ask("DELETE", "/")[0], 405)
expect("OPTIONS *", client.ask("OPTIONS", "*")[0], 204)
expect("a body", client.ask("POST", "/say", b"hello")[0], 204)
expect("a body in chunks", client.ask("POST", "/say", b"hello", [("Transfer-Encoding", "chunked")])[0], 204)
expect("a client that waits for 100 Continue", client.ask("POST", "/say", b"hello", [("Expect", "100-continue")])[0], 204)
expect("another request on the same connection", client.ask("GET", "/")[:2], (200, page))
expect("a body that is too long", Client().ask("POST", "/say", b"x" * (2 << 20))[0], 413)

for raw, wanted in [
    (b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", b"400"),
    (b"GET / HTTP/1.1\nHost: h\n\n", b"400"),
    (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", b"505"),
    (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", b"414"),
    (b"GET / HTTP/1.1\r\nHost: h\r\nA: " + b"a" * 40000 + b"\r\n\r\n", b"431"),
]:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(raw)
    answer = b""
    while part := connection.recv(65536):
        answer += part
    expect(f"{raw[:40]!r} is refused, and the connection is closed", answer[9:12], wanted)

with httpx.Client(timeout=10) as http:
    with httpx_sse.connect_sse(http, "GET", base + "/events") as stream:
        events = stream.iter_sse()
        hello = next(events)
        expect("a new connection starts with an event", (hello.event, hello.id != ""), ("hello", True))
        client.ask("POST", "/say", b"live")
        said = next(events)
        expect("an event arrives", (said.event, said.data), ("said", "live"))
    client.ask("POST", "/say", b"missed")
    with httpx_sse.connect_sse(http, "GET", base + "/events", headers={"Last-Event-ID": said.id}) as stream:
        events = stream.iter_sse()
        next(events)
        expect("a client that reconnects receives the events that it missed", next(events).data, "missed")


def curl(*words, body=None):
    """The status, how many connections were made, and the version, of each URL."""
    form = "\n%{http_code} %{num_connects} %{http_version}\n"
    words = ["curl", "--silent", "--show-error", "--max-time", "10", "--write-out", form, *words]
    lines = subprocess.run(words, input=body, capture_output=True, check=True).stdout.decode().split("\n")
    return [line for line in lines if re.fullmatch(r"\d{3} \d+ [\d.]+", line)]


say = ["--request", "POST", "--header", "Content-Type:", base + "/say"]
expect("curl: two requests share a connection", curl(base + "/", base + "/"), ["200 1 1.1", "200 0 1.1"])
expect("curl: HTTP/1.0", curl("--http1.0", base + "/")[0][:3], "200")
expect("curl: HEAD", curl("--head", base + "/"), ["200 1 1.1"])
expect("curl: an offer of HTTP/2 is ignored", curl("--http2", base + "/"), ["200 1 1.1"])
expect("curl: a body with its length", curl("--data-binary", "hello", *say), ["204 1 1.1"])
expect("curl: a body in chunks", curl("--upload-file", "-", *say, body=b"hello"), ["204 1 1.1"])
long = b"x" * 300_000
expect(
    "curl: a body that waits for 100 Continue", curl("--header", "Expect: 100-continue", "--data-binary", "@-", *say, body=long),
    ["204 1 1.1"])
expect("curl: a body that is too long", curl("--data-binary", "@-", *say, body=b"x" * (3 << 20))[0][:3], "413")
expect("curl: a path without a route", curl(base + "/nothing"), ["404 1 1.1"])
expect("curl: a path with .. is refused", curl("--path-as-is", base + "/../../etc/passwd")[0][:1], "4")
