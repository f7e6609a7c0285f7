"""A case-study feed on this machine, and the command that loads it: for compare-python and longest-turn."""
import http.server, json, os, subprocess, sys, threading, uuid

here = os.path.dirname(os.path.abspath(__file__))
# Nothing is to be asked of a proxy.
environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


def payload(count):
    """The body of a feed of `count` images, different ones each time."""
    items = [{
        "id": str(uuid.uuid4()).upper(), "description": f"Description of image number {i}", "location": f"Location {i}",
        "image": f"https://images.example.com/{i}.jpg",
    } for i in range(count)]
    return json.dumps({"items": items}).encode()


class Origin:
    """Serves `bodies` by their paths until it is stopped."""

    def __init__(self, bodies):
        self.bodies = bodies

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                body = self.bodies[handler.path]
                handler.send_response(200)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def command():
    """The `feed` that the command line names, or else a new one, built as users build it."""
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(sys.modules["__main__"].__doc__)
    if len(sys.argv) == 2:
        return os.path.abspath(sys.argv[1])
    build = os.path.join(os.path.dirname(here), "Scripts", "release")
    return subprocess.check_output([build], text=True).splitlines()[-1]
