"""A server of feeds and of images that it draws, which can be restarted, and a connection that can be cut."""

import datetime
import http.server
import json
import socket
import threading
import uuid

from landscapes import COMIC, KINDS, PANORAMA, landscape, moving


class Origin:
    def __init__(self):
        self.items = []
        self.diary = []
        self.evil = []
        self.asked = []
        # While it is closed, one image does not come.
        self.gate = threading.Event()
        # While it is closed, one feed does not come; these are its items.
        self.lates = []
        self.late = threading.Event()
        self.port = 0
        self.start()

    def item(self, number, description, place, address):
        item = {"id": str(uuid.UUID(int=number + 1)), "image": address or f"http://127.0.0.1:{self.port}/{number}.png"}
        if description is not None:
            item["description"] = description
        if place:
            item["location"] = place
        return item

    def add(self, description, place=None, address=None):
        """The latest comes first."""
        self.items.insert(0, self.item(len(self.items), description, place, address))

    def write(self, minutes, description):
        """Into the diary, as of some minutes ago."""
        self.diary.append(self.dated(10_000 + len(self.diary), minutes, description))

    def set(self, minutes, description, text, images):
        """A post of several images, with their alternative texts."""
        html = "".join(f'<img src="http://127.0.0.1:{self.port}/{image}.png" alt="{alt}">' for image, alt in images)
        number = 60_000 + len(self.diary)
        item = self.dated(number, minutes, description)
        del item["image"]
        self.diary.append(item | {
            "content_html": f"<p>{text}</p>{html}", "url": f"http://127.0.0.1:{self.port}/posts/{number}"})

    def hate(self, minutes, description, address=None):
        """Into a feed that is up to no good."""
        self.evil.append(self.dated(20_000 + len(self.evil), minutes, description, address))

    def dated(self, number, minutes, description, address=None):
        date = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes)
        return {
            "id": str(number), "title": description, "date_published": date.isoformat(timespec="seconds"),
            "image": address or f"http://127.0.0.1:{self.port}/{number}.png",
        }

    def start(self):
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                origin.asked.append(self.path)
                kind = "image/png"
                if self.path in ("/comic.png", "/panorama.png"):
                    body = landscape(5, COMIC if self.path == "/comic.png" else PANORAMA)
                elif self.path == "/moving.gif":
                    body, kind = moving(), "image/gif"
                elif self.path == "/slow.png":
                    origin.gate.wait(20)
                    body = landscape(7)
                elif self.path.endswith(".png"):
                    body = landscape(int(self.path[1:-4]) % KINDS)
                elif self.path == "/feed.json":
                    body, kind = json.dumps({"items": origin.items}).encode(), "application/json"
                elif self.path.startswith("/many/"):
                    # A thousand items of its own for each number.
                    first = int(self.path[6:-5]) * 1_000 + 1_000_000
                    items = [origin.item(number, f"Image {number}", None, None) for number in range(first, first + 1_000)]
                    body, kind = json.dumps({"items": items}).encode(), "application/json"
                elif self.path in ("/diary.json", "/evil.json"):
                    title, items = ("Diary", origin.diary) if self.path == "/diary.json" else ("<b>Evil</b>", origin.evil)
                    feed = {"version": "https://jsonfeed.org/version/1.1", "title": title, "items": items}
                    body, kind = json.dumps(feed).encode(), "application/feed+json"
                elif self.path == "/late.json":
                    origin.late.wait(20)
                    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Late", "items": origin.lates}
                    body, kind = json.dumps(feed).encode(), "application/feed+json"
                elif self.path == "/elsewhere":
                    body, kind = b"<!doctype html><title>Elsewhere</title>", "text/html"
                else:
                    body = b"<script>alert(1)</script>"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            request_queue_size = 64

            def handle_error(self, request, address):
                pass  # Clients may leave.

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Wire:
    """Between a browser and a server: it can be cut, and knows what the browser said."""

    def __init__(self, target):
        self.target = target
        self.said = b""
        self.pairs = []
        self.port = 0
        self.mend()

    def mend(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=[self.listener], daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.pairs += [near, far]
            threading.Thread(target=self.carry, args=[near, far, True], daemon=True).start()
            threading.Thread(target=self.carry, args=[far, near, False], daemon=True).start()

    def carry(self, source, sink, is_heard):
        try:
            while data := source.recv(65536):
                if is_heard:
                    self.said += data
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        # Closing alone does not wake who waits in accept().
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for end in self.pairs:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        self.pairs = []
