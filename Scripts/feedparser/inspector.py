"""The process that reads documents with FeedFormats (Tests/InspectFeeds)."""
import json
import subprocess


class Inspector:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def inspect(self, path, charset="", address=""):
        self.process.stdin.write(f"{path}\t{charset}\t{address}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"FAILED: InspectFeeds ended at {path}")
        return json.loads(line)
