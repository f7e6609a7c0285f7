"""Stops a server under load, and counts what its clients lose.

usage: clients.py <rounds> <program> [<argument>…]      the program writes its URL, or its address, first; a program called feed is `feed serve`

Starts the program, connects clients of each kind, sends SIGTERM, and waits until the program and every client have finished.
A request is lost if its client gets no complete response, with one exception: a server may close an idle connection that has
carried a response, and a request sent at that moment gets not a single byte. HTTP clients send such a request again on a new
connection (RFC 9112, sections 9.3.1 and 9.6), to the next server. The script counts it as repeated. A connection's first request
must never be lost.
"""

import asyncio
import os
import random
import signal
import socket
import sys
import time

rounds, command = int(sys.argv[1]), sys.argv[2:]
is_feed = os.path.basename(command[0]) == "feed"
BUSY, SLOW, IDLE, EVENTS, NEW = 500, 200, 100, 180, 20
# What is requested often, and what takes the server longer.
QUICK, LONG = ("/health", "/") if is_feed else ("/", "/slow")


class Round:
    def __init__(self, host, port):
        self.host, self.port = host, port
        self.served = self.lost = self.repeated = self.cut = self.streams = self.gaps = 0
        self.connected = 0
        self.stopping = asyncio.Event()

    async def connect(self):
        for attempt in range(20):
            try:
                result = await asyncio.open_connection(self.host, self.port)
                self.connected += 1
                return result
            except OSError:
                if self.stopping.is_set():
                    raise
                await asyncio.sleep(0.05)
        raise OSError("no server listens on the port")

    async def ask(self, reader, writer, path, is_first):
        """Sends a request. Returns True when the connection may be used again; None when the response is missing."""
        head = b""
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if not head.startswith(b"http/1.1 200 "):
                sys.exit(f"FAILED: {head!r}")
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as error:
            if is_first or head or getattr(error, "partial", b""):
                self.lost += 1
            else:
                self.repeated += 1
            return None
        self.served += 1
        return b"connection: close" not in head

    async def keep_asking(self, path, pause):
        reader, writer = await self.connect()
        await asyncio.sleep(random.uniform(0, pause))
        is_first = True
        while not self.has_ended(writer) and await self.ask(reader, writer, path, is_first):
            is_first = False
            # Ends early when the server closes the connection, as a pool of connections notices.
            try:
                await asyncio.wait_for(self.closed(reader), random.uniform(0, pause))
            except TimeoutError:
                continue
            break
        writer.close()

    def has_ended(self, writer):
        """Tells whether the server has closed its side, as clients check before they use a connection again."""
        established = 1
        return writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != established

    async def closed(self, reader):
        # Nothing but the end may come between responses.
        if await reader.read(1) != b"":
            self.gaps += 1

    async def idle(self):
        reader, writer = await self.connect()
        await self.closed(reader)
        writer.close()

    async def listen(self):
        reader, writer = await self.connect()
        writer.write(f"GET /events HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
        data = b""
        try:
            while chunk := await reader.read(65536):
                data += chunk
        except OSError:
            self.cut += 1
        writer.close()
        numbers = [int(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ") and line[6:].strip().isdigit()]
        # The events of `feed serve` have no numbers.
        if not is_feed and (not numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers)))):
            self.gaps += 1
        # The client knows when to connect again, and where to continue.
        if b"retry: " in data and b"id: " in data:
            self.streams += 1

    async def keep_connecting(self):
        while True:
            try:
                reader, writer = await self.connect()
            except OSError:
                return
            await self.ask(reader, writer, QUICK, True)
            writer.close()
            await asyncio.sleep(random.uniform(0, 0.1))


async def one_round():
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    address = (await server.stdout.readline()).decode().strip().split("//")[-1].split("/")[0]
    host, port = address.rsplit(":", 1)
    self = Round(host, int(port))
    clients = (
        [self.keep_asking(QUICK, 1.0) for _ in range(BUSY)]
        + [self.keep_asking(LONG, 0.2) for _ in range(SLOW)]
        + [self.idle() for _ in range(IDLE)]
        + [self.listen() for _ in range(EVENTS)]
        + [self.keep_connecting() for _ in range(NEW)]
    )
    tasks = [asyncio.create_task(client) for client in clients]
    while self.connected < len(clients):
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    self.stopping.set()
    began = time.monotonic()
    server.send_signal(signal.SIGTERM)
    status = await server.wait()
    took = time.monotonic() - began
    await asyncio.gather(*tasks)
    # A signal ends a command with 128 and its number.
    if status != (128 + signal.SIGTERM if is_feed else 0):
        sys.exit(f"FAILED: the program exited with status {status}")
    return took, self


async def main():
    times, served, lost, repeated, gaps = [], 0, 0, 0, 0
    for number in range(rounds):
        took, result = await one_round()
        times.append(took)
        served += result.served
        lost += result.lost
        repeated += result.repeated
        gaps += result.gaps + (EVENTS - result.streams) + result.cut
        print(f"{number + 1}: {took:.3f} s, {result.served} responses, {result.lost} requests lost, {result.repeated} repeated", flush=True)
    print(f"{rounds} stops with {BUSY + SLOW + IDLE + EVENTS + NEW} clients: longest {max(times):.3f} s,", end=" ")
    print(f"median {sorted(times)[len(times) // 2]:.3f} s, {served} responses, {lost} requests lost, {repeated} repeated, {gaps} event streams broken")
    if lost or gaps:
        sys.exit(1)


asyncio.run(main())
