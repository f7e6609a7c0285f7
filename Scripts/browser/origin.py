"""A server of a feed and of pictures that it draws, which can be stopped and started again."""

import colorsys
import http.server
import json
import struct
import threading
import uuid
import zlib


def picture(number):
    """A landscape under a sky, as PNG."""
    width, height = 320, 240
    hue = number * 0.381966 % 1
    horizon = height // 3 + number * 37 % 90

    def row(y):
        if y < horizon:
            color = colorsys.hls_to_rgb(hue, 0.45 + 0.4 * y / horizon, 0.55)
        else:
            depth = (y - horizon) / (height - horizon)
            color = colorsys.hls_to_rgb((hue + 0.33) % 1, 0.38 - 0.22 * depth, 0.4)
        return b"\0" + bytes(int(part * 255) for part in color) * width

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(row(y) for y in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


class Origin:
    def __init__(self):
        self.items = []
        self.port = 0
        self.start()

    def add(self, description, place=None, address=None):
        """The latest comes first."""
        number = len(self.items)
        item = {"id": str(uuid.UUID(int=number + 1)), "image": address or f"http://127.0.0.1:{self.port}/{number}.png"}
        if description is not None:
            item["description"] = description
        if place:
            item["location"] = place
        self.items.insert(0, item)

    def start(self):
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                if self.path.endswith(".png"):
                    body, kind = picture(int(self.path[1:-4])), "image/png"
                elif self.path == "/feed.json":
                    body, kind = json.dumps({"items": origin.items}).encode(), "application/json"
                else:
                    body, kind = b"<script>alert(1)</script>", "image/png"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
