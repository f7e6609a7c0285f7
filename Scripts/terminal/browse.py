"""Takes screenshots of `feed browse` on a virtual screen, in xterm (sixels) and in kitty (its graphics protocol):
browse.py <feed> <folder> makes browse.png and browse-kitty.png there."""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, f"{os.path.dirname(__file__)}/../browser")
from landscapes import landscape

# The items' descriptions and locations.
TEXTS = [
    ("Morning over the valley", "Tegernsee"), ("Hills at dusk", "Sintra"), ("The long ridge", "Zermatt"),
    ("Evening on the moor", "Inari"), ("The peak after rain", "Merzouga"), ("Full moon in the hills", "Geiranger"),
    ("Terraces in early spring", "Yunnan"), ("Seen from the train", "Brno"), ("The coast road", "Moher"),
    ("The last light", "Oaxaca de Juárez"),
]
DISPLAY = ":97"
program, pictures = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


class Origin(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/feed.json":
            place = f"http://127.0.0.1:{self.server.server_port}"
            items = [
                {"id": str(uuid.UUID(int=n)), "description": text, "location": location, "image": f"{place}/{n}"}
                for n, (text, location) in enumerate(TEXTS * 2)
            ]
            body = json.dumps({"items": items}).encode()
        else:
            body = landscape(int(self.path[1:]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def types(*keys):
    for key in keys:
        subprocess.run(["xdotool", "key", key], check=True)
        time.sleep(0.4)


os.environ["DISPLAY"] = DISPLAY
# The virtual screen has no graphics processor, which kitty would use.
os.environ["LIBGL_ALWAYS_SOFTWARE"] = "1"
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
threading.Thread(target=server.serve_forever, daemon=True).start()
screen = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "1400x900x24", "-noreset"], stderr=subprocess.DEVNULL)
with tempfile.TemporaryDirectory() as folder:
    terminal = None
    try:
        while subprocess.run(["xdotool", "getmouselocation"], capture_output=True).returncode != 0:
            if screen.poll() is not None:
                sys.exit(f"browse.py: the screen {DISPLAY} is in use")
            time.sleep(0.1)
        with open(f"{folder}/feeds.opml", "w") as file:
            address = f"http://127.0.0.1:{server.server_port}/feed.json"
            file.write(f'<opml version="2.0"><body><outline text="Landscapes" xmlUrl="{address}"/></body></opml>')
        feed = [program, "browse", "--opml", f"{folder}/feeds.opml", "--cache", f"{folder}/feeds.db"]
        xterm = ["xterm", "-ti", "vt340", "-xrm", "XTerm*numColorRegisters: 256", "-fa", "DejaVu Sans Mono", "-fs", "11",
                 "-bg", "#16181d", "-fg", "#d8dee9", "-geometry", "100x30", "-e"]
        kitty = ["kitty", "--config", "NONE"]
        for option in ("font_size=11", "font_family=DejaVu Sans Mono", "background=#16181d", "foreground=#d8dee9",
                       "remember_window_size=no", "initial_window_width=100c", "initial_window_height=30c",
                       "update_check_interval=0"):
            kitty += ["-o", option]
        for command, name in (xterm, "browse"), (kitty, "browse-kitty"):
            terminal = subprocess.Popen([*command, *feed], stderr=subprocess.DEVNULL)
            subprocess.run(["xdotool", "mousemove", "200", "150"], check=True)
            time.sleep(10)
            types("Right", "Down")
            time.sleep(2)
            subprocess.run(["import", "-window", "root", f"{folder}/screen.png"], check=True)
            crop = ["-trim", "+repage", "-colors", "256", f"PNG8:{pictures}/{name}.png"]
            subprocess.run(["convert", f"{folder}/screen.png", *crop], check=True)
            print(f"{pictures}/{name}.png")
            terminal.terminate()
            terminal.wait()
            terminal = None
    finally:
        if terminal:
            terminal.terminate()
            terminal.wait()
        screen.terminate()
