"""Disconnects a worker and a gateway in a network namespace of their own: their connections end without any packet.

Usage: cut.py FEED, the path of the command. Needs root privileges, for `ip netns`. Takes about two minutes.
"""
import os, subprocess, sys, time
from world import World, free_port, say, server

name = f"fleet{os.getpid()}"
inside = ["ip", "netns", "exec", name]
world = World(sys.argv[1], "", network="10.213.77")
port = free_port()


def ip(*words, within=False):
    subprocess.run([*(inside if within else []), "ip", *words], check=True)


def cable(end, here, there):
    """A cable between this network and the other one."""
    ip("link", "add", f"{end}{os.getpid()}", "type", "veth", "peer", "name", "eth" + end, "netns", name)
    ip("address", "add", here, "dev", f"{end}{os.getpid()}")
    ip("link", "set", f"{end}{os.getpid()}", "up")
    ip("address", "add", there, "dev", "eth" + end, within=True)
    ip("link", "set", "eth" + end, "up", within=True)


def pull(*ends):
    for end in ends:
        ip("link", "set", f"{end}{os.getpid()}", "down")


def plug(*ends):
    for end in ends:
        ip("link", "set", f"{end}{os.getpid()}", "up")


def polls_of_the_other():
    """How many requests came from within."""
    return world.callers.get("10.213.77.100", 0)


def until_it_polls(what, patience):
    before, start = polls_of_the_other(), time.time()
    world.wait_for(what, patience, lambda: polls_of_the_other() > before)
    say(f"{what}: after {time.time() - start:.1f} s")


try:
    ip("netns", "add", name)
    ip("link", "set", "lo", "up", within=True)
    # One to the store, the other to the origins, and from clients to the gateway.
    cable("s", "10.213.76.1/24", "10.213.76.100/24")
    cable("o", "10.213.77.1/24", "10.213.77.100/24")
    for host in range(2, 8):
        ip("address", "add", f"10.213.77.{host}/32", "dev", f"o{os.getpid()}")
    server(
        world, "redis-server", "--port", str(port), "--bind", "127.0.0.1", "10.213.76.1", "--protected-mode", "no", "--save", "",
        "--dir", world.folder, cli=["-p", str(port)])
    world.store = f"redis://127.0.0.1:{port}"
    say(world.add())
    here = world.worker()
    gateway, here_port = world.gateway(free_port())
    world.store = f"redis://10.213.76.1:{port}"
    there = world.worker(before=inside)
    cut_off, there_port = world.gateway(
        free_port(), before=inside, words=["--host", "10.213.77.100", "--token", "cut"])
    near = world.clients(10, [here_port])
    far = world.clients(10, [there_port], host="10.213.77.100", token="cut")
    world.until_polled("began", 20)
    until_it_polls("the worker in the namespace polls", 20)

    pull("s")
    world.until_polled("the worker is cut off from the store", 20)
    time.sleep(8)
    plug("s")
    world.mute(3)
    until_it_polls("the store is reachable again, and the worker in the namespace polls", 30)

    pull("s", "o")
    world.until_polled("the worker is cut off from everything", 20)
    time.sleep(8)
    plug("s", "o")
    # A pulled cable loses the addresses of its end, but for the first.
    world.mute(3)
    until_it_polls("everything is reachable again, and the worker in the namespace polls", 30)
    time.sleep(10)
    world.check([*near, *far], late=8)

    # Longer than a reply is waited for, so that the gateway gives its connection up.
    pull("s")
    time.sleep(25)
    before = [client.events for client in far]
    plug("s")
    start = time.time()
    world.wait_for("the clients of the gateway in the namespace receive updates", 30, lambda: all(
        client.events > count for client, count in zip(far, before)))
    say(f"the store is reachable again after 25 s; each client of the gateway in the namespace has an update after {time.time() - start:.1f} s")
    time.sleep(10)
    world.check([*near, *far], late=8)
    if any(client.resets for client in [*near, *far]):
        world.problems.append("clients were reset unnecessarily")
    say(world.quiet_down([*near, *far]))
    world.finish([here, gateway, there, cut_off], [*near, *far])
    say(f"lost updates: {world.lost}; feeds set back to an older version: {world.set_back}")
finally:
    status = world.end()
    subprocess.run(["ip", "netns", "delete", name])
sys.exit(status)
