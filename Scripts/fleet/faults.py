"""Workers, gateways and clients on a real server, and what happens to them: killed, stopped, frozen, emptied, set back.

Usage: faults.py FEED [--short] [--server PROGRAM]. FEED is the path of the command; PROGRAM is redis-server, or valkey-server. Takes
about a minute and a half; a third of that with --short.
"""
import os, signal, subprocess, sys, time
from world import World, say, server

short = "--short" in sys.argv
program = sys.argv[sys.argv.index("--server") + 1] if "--server" in sys.argv else "redis-server"
world = World(sys.argv[1], "", lease="2s" if short else "4s")
sock = world.folder + "/s"
world.store = "unix://" + sock


def cli(*words):
    return subprocess.run(["redis-cli", "-s", sock, *words], capture_output=True, text=True).stdout


def engine():
    return server(
        world, program, "--port", "0", "--unixsocket", sock, "--save", "", "--dir", world.folder, cli=["-s", sock])


def restart(what, change, patience):
    """The engine is killed and comes back as `change` leaves its file."""
    global redis
    redis.kill()
    redis.wait()
    time.sleep(1 if short else 2)
    change()
    redis = engine()
    world.mute(6)
    time.sleep(1)
    added = world.add()
    say(f"{what}; {added}")
    world.until_polled(what, patience)


try:
    redis = engine()
    say(world.add())
    workers = [world.worker() for _ in range(2 if short else 3)]
    gateways = [world.gateway() for _ in range(2)]
    clients = world.clients(10 if short else 20, [port for _, port in gateways])
    world.until_polled("began", 20)
    workers[0].kill()
    world.until_polled("a worker was killed", 20)
    if short:
        workers[0] = world.worker()
    else:
        world.until_polled("as usual", 20)
        workers[1].send_signal(signal.SIGSTOP)
        time.sleep(6)
        world.mute(3)
        workers[1].send_signal(signal.SIGCONT)
        world.until_polled("a worker was stopped beyond its lease", 20)
    gateways[0][0].kill()
    world.until_polled("a gateway was killed", 20)
    redis.send_signal(signal.SIGSTOP)
    time.sleep(3 if short else 5)
    world.mute(3)
    redis.send_signal(signal.SIGCONT)
    world.until_polled("the store stood still", 30)
    resets = sum(client.resets for client in clients)
    if resets:
        world.problems.append(f"{resets} needless resets")
    if not short:
        cli("SAVE")
        time.sleep(4)
        restart("the store came back older", lambda: None, 40)
        time.sleep(6)
        if any(client.resets == 0 for client in clients):
            world.problems.append("a client was not told that the log went back to an older file")
    before = [client.resets for client in clients]
    restart("the store came back empty", lambda: os.path.exists(world.folder + "/dump.rdb") and os.remove(world.folder + "/dump.rdb"), 40)
    time.sleep(6 if short else 8)
    if any(client.resets == count for client, count in zip(clients, before)):
        world.problems.append("a client was not told that the log is another one")
    world.finish([*workers[0 if short else 1:], gateways[1][0]], clients)
finally:
    status = world.end()
sys.exit(status)
