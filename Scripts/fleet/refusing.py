"""A proxy to a Redis server on a socket that refuses random commands, as a real server might. A seed chooses them.

Used by faults.py; on its own: refusing.py LISTEN SERVER SHARE SEED.
"""
import os, random, socket, sys, threading, time

REFUSALS = [
    b"-LOADING Redis is loading the dataset in memory",
    b"-NOPERM User default has no permissions to run this command",
    b"-WRONGTYPE Operation against a key holding the wrong kind of value",
    b"-OOM command not allowed when used memory > 'maxmemory'.",
    b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
]


class Stream:
    """One side of a connection, whose values are read whole, as the bytes that they are."""

    def __init__(self, connection):
        self.connection, self.file = connection, connection.makefile("rb")

    def value(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError
        kind, number = line[:1], line[1:-2]
        if kind in b"$=!" and number != b"-1":
            return line + self.exactly(int(number) + 2)
        if kind in b"*~>" and number != b"-1":
            return line + b"".join(self.value() for _ in range(int(number)))
        if kind in b"%|":
            return line + b"".join(self.value() for _ in range(2 * int(number)))
        return line

    def exactly(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise EOFError
        return data


class Refusing:
    """Refuses a part of all commands, which the server then never gets, while `share` is above 0."""

    def __init__(self, place, server, seed):
        self.server, self.share, self.random, self.refused, self.passed = server, 0, random.Random(seed), 0, 0
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(place):
            os.remove(place)
        self.listener.bind(place)
        self.listener.listen(512)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def refusal(self):
        with self.lock:
            if self.random.randrange(100) >= self.share:
                self.passed += 1
                return None
            self.refused += 1
            return self.random.choice(REFUSALS) + b"\r\n"

    def serve(self, connection):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.server)
            client, answers = Stream(connection), Stream(server)
            # A server that ends its connections ends these, even while nothing is asked.
            while True:
                command = client.value()
                refusal = self.refusal()
                if refusal is None:
                    server.sendall(command)
                    refusal = answers.value()
                connection.sendall(refusal)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            for end in (connection, server):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()


if __name__ == "__main__":
    proxy = Refusing(sys.argv[1], sys.argv[2], int(sys.argv[4]))
    proxy.share = int(sys.argv[3])
    while True:
        time.sleep(60)
