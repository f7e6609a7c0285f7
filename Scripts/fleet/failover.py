"""Starts a primary, its replica and a Sentinel, kills the primary, freezes its successor, and checks that polls continue.

Usage: failover.py FEED, the path of the command. Takes about a minute.
"""
import signal, subprocess, sys, time
from world import World, free_port, say, server

world = World(sys.argv[1], "")
ports = [free_port() for _ in range(2)]
watcher = free_port()
world.store = f"redis+sentinel://127.0.0.1:{watcher}/main"


def redis(number, *more):
    port = str(ports[number])
    return server(
        world, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", world.folder, "--dbfilename",
        port, "--repl-diskless-sync-delay", "0", *more, cli=["-p", port])


def primary():
    """The place of the server that the Sentinel calls primary."""
    words = ["redis-cli", "-p", str(watcher), "sentinel", "get-master-addr-by-name", "main"]
    return ports.index(int(subprocess.run(words, capture_output=True, text=True).stdout.split()[1]))


def cli(number, *words):
    return subprocess.run(["redis-cli", "-p", str(ports[number]), *words], capture_output=True, text=True).stdout


def until_replicated(number):
    for _ in range(200):
        if "master_link_status:up" in cli(number, "info", "replication"):
            return
        time.sleep(0.1)
    world.problems.append("the replica does not replicate the primary")


def until_failed_over(old):
    start = time.time()
    while primary() == old and time.time() - start < 30:
        time.sleep(0.1)
    say(f"the Sentinel has chosen another primary after {time.time() - start:.1f} s")


try:
    servers = [redis(0), redis(1, "--replicaof", f"127.0.0.1 {ports[0]}")]
    with open(world.folder + "/sentinel.conf", "w") as file:
        file.write(
            f"port {watcher}\nbind 127.0.0.1\ndir {world.folder}\nsentinel monitor main 127.0.0.1 {ports[0]} 1\n"
            "sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 4000\n")
    server(world, "redis-server", world.folder + "/sentinel.conf", "--sentinel", cli=["-p", str(watcher)])
    until_replicated(1)
    say(world.add())
    workers = [world.worker() for _ in range(2)]
    gateway, port = world.gateway()
    clients = world.clients(10, [port])
    world.until_polled("began", 20)
    # The Sentinel looks for replicas every ten seconds.
    time.sleep(11)
    world.mute(60)
    servers[0].kill()
    servers[0].wait()
    until_failed_over(0)
    world.until_polled("the primary was killed", 40)
    servers[0] = redis(0)
    # Within the Sentinel's next look the old primary is told to follow.
    for _ in range(300):
        if "role:slave" in cli(0, "info", "replication"):
            break
        time.sleep(0.1)
    until_replicated(0)
    say("the old primary is a replica")
    world.mute(60)
    servers[1].send_signal(signal.SIGSTOP)
    until_failed_over(1)
    servers[1].send_signal(signal.SIGCONT)
    world.until_polled("the primary was frozen, and was no longer primary when it resumed", 60)
    time.sleep(3)
    world.finish([*workers, gateway], clients)
finally:
    status = world.end()
sys.exit(status)
