"""Tests WebSocketEcho with websockets and wsproto, as its client and as its server.

usage: peers.py <WebSocketEcho>
"""
import asyncio, logging, random, socket, subprocess, sys

import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection, BytesMessage, CloseConnection, Ping, Pong, RejectConnection, Request, TextMessage)
from wsproto.extensions import PerMessageDeflate

PROGRAM = sys.argv[1]
LENGTHS = [0, 1, 16, 125, 126, 127, 128, 1000, 4096, 65535, 65536, 65537, 200_000, 1 << 20, 5 << 20]
checks = 0
logging.getLogger("websockets").setLevel(logging.CRITICAL)


def check(is_right, what):
    global checks
    checks += 1
    if not is_right:
        sys.exit(f"FAILED: {what}")


def messages():
    """Texts and bytes that compress well and badly."""
    numbers = random.Random(7)
    for length in LENGTHS:
        yield "κόσμε is beautiful " * (length // 19) + "x" * (length % 19)
        yield numbers.randbytes(length)


# websockets


async def echo_all(peer, label):
    for message in messages():
        await peer.send(message)
        check(await peer.recv() == message, f"{label}: a message with a length of {len(message)}")
    pieces = ["frag", "", "ments ", "of κ", "όσμε"] * 20
    await peer.send(pieces)
    check(await peer.recv() == "".join(pieces), f"{label}: fragments")
    many = [f"message {number}" for number in range(500)]
    for text in many:
        await peer.send(text)
    check([await peer.recv() for _ in many] == many, f"{label}: many messages, in order")


async def websockets_as_client(url):
    for compression in (None, "deflate"):
        async with connect(url, compression=compression, max_size=None) as peer:
            check(bool(peer.protocol.extensions) == (compression is not None), "the server accepts the offered compression")
            await echo_all(peer, f"websockets as a client, compression {compression}")
            await asyncio.wait_for(await peer.ping(b"hello"), 5)
            check(True, "a ping is answered with a pong")
            await peer.close(4000, "done")
            check(peer.close_code == 4000, "the close frame has the expected code")
    from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
    for forgets in (False, True):
        for client_forgets in (False, True):
            for bits in (None, 9, 12, 15):
                for client_bits in (None, True, 9, 12, 15):
                    factory = ClientPerMessageDeflateFactory(forgets, client_forgets, bits, client_bits)
                    async with connect(url, extensions=[factory], compression=None, max_size=None) as peer:
                        for message in ["compress " * 2000, "compress " * 2000, b"bytes" * 30000]:
                            await peer.send(message)
                            check(await peer.recv() == message, f"{forgets} {client_forgets} {bits} {client_bits}")
    for origin, is_taken in ((None, True), ("http://" + url[5:].rstrip("/"), True), ("https://evil.example", False)):
        try:
            async with connect(url, origin=origin):
                check(is_taken, f"the origin {origin}")
        except websockets.exceptions.InvalidStatus as error:
            check(not is_taken and error.response.status_code == 403, f"the origin {origin}")


async def websockets_as_server():
    for compression in (None, "deflate"):
        result = asyncio.get_running_loop().create_future()

        async def handle(peer):
            try:
                check(peer.request.path == "/runCase?case=1&agent=a", "the path and the query")
                await echo_all(peer, f"websockets as a server, compression {compression}")
                await asyncio.wait_for(await peer.ping(b"hello"), 5)
                await peer.close(1000)
                result.set_result(None)
            except BaseException as error:
                result.set_exception(error)

        async with serve(handle, "127.0.0.1", 0, compression=compression, max_size=None) as server:
            port = server.sockets[0].getsockname()[1]
            client = await asyncio.create_subprocess_exec(
                PROGRAM, "connect", f"ws://127.0.0.1:{port}/runCase?case=1&agent=a")
            await asyncio.wait_for(result, 60)
            check(await asyncio.wait_for(client.wait(), 10) == 0, "the client ends with status 0")


# wsproto


class Wire:
    """A connection of wsproto over a socket."""

    def __init__(self, kind, connection):
        self.protocol, self.socket, self.waiting = WSConnection(kind), connection, []
        connection.settimeout(20)

    def send(self, *events):
        self.socket.sendall(b"".join(self.protocol.send(event) for event in events))

    def next(self):
        while not self.waiting:
            self.protocol.receive_data(self.socket.recv(65536) or None)
            self.waiting = list(self.protocol.events())
        return self.waiting.pop(0)

    def message(self):
        parts = []
        while True:
            event = self.next()
            if isinstance(event, Ping):
                self.send(event.response())
            elif isinstance(event, (TextMessage, BytesMessage)):
                parts.append(event.data)
                if event.message_finished:
                    return (b"" if isinstance(event, BytesMessage) else "").join(parts)
            else:
                check(False, f"wsproto: {event}")

    def echo_all(self, label):
        for message in messages():
            if len(message) > 1 << 20:
                continue
            kind = BytesMessage if isinstance(message, bytes) else TextMessage
            half = len(message) // 2
            self.send(kind(data=message[:half], message_finished=False), Ping(payload=b"between"))
            event = self.next()
            check(isinstance(event, Pong) and event.payload == b"between", f"{label}: a pong between fragments")
            self.send(kind(data=message[half:], message_finished=True))
            check(self.message() == message, f"{label}: a message with a length of {len(message)}")


def wsproto_as_client(port):
    for extensions in ([], [PerMessageDeflate()], [PerMessageDeflate(client_no_context_takeover=True)]):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            wire = Wire(ConnectionType.CLIENT, connection)
            wire.send(Request(host=f"127.0.0.1:{port}", target="/", extensions=extensions))
            accepted = wire.next()
            check(isinstance(accepted, AcceptConnection), "wsproto as a client: the handshake")
            wire.echo_all(f"wsproto as a client, {len(accepted.extensions)} extensions")
            wire.send(CloseConnection(code=3001, reason="bye"))
            event = wire.next()
            check(isinstance(event, CloseConnection) and event.code == 3001, "wsproto as a client: closing")
            check(connection.recv(1) == b"", "the server closes first")


def wsproto_as_server():
    for extensions in ([], [PerMessageDeflate()]):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = subprocess.Popen([PROGRAM, "connect", f"ws://127.0.0.1:{listener.getsockname()[1]}/"])
            connection, _ = listener.accept()
            with connection:
                wire = Wire(ConnectionType.SERVER, connection)
                check(isinstance(wire.next(), Request), "wsproto as a server: the request")
                wire.send(AcceptConnection(extensions=extensions))
                wire.echo_all(f"wsproto as a server, {len(extensions)} extensions")
                wire.send(CloseConnection(code=1001))
                event = wire.next()
                check(isinstance(event, CloseConnection) and event.code == 1001, "wsproto as a server: closing")
            check(client.wait(15) == 0, "the client ends with status 0")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = [PROGRAM, "connect", f"ws://127.0.0.1:{listener.getsockname()[1]}/"]
        client = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        connection, _ = listener.accept()
        with connection:
            wire = Wire(ConnectionType.SERVER, connection)
            wire.next()
            wire.send(RejectConnection(status_code=403))
        said = client.communicate(timeout=15)[1]
        check(client.returncode == 1 and "403" in said, f"a refusal is reported: {said}")


def main():
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        asyncio.run(websockets_as_client(url))
        wsproto_as_client(int(url.rstrip("/").rsplit(":", 1)[1]))
    finally:
        server.terminate()
    asyncio.run(websockets_as_server())
    wsproto_as_server()
    print(f"{checks} checks with websockets {websockets.__version__} and wsproto, on both sides: all passed")


main()
