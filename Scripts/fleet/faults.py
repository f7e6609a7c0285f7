"""Runs workers, gateways and clients on a real server, and kills, stops, freezes, empties or restores them.

The server refuses random commands, its clock is set, hosts are paused, and feeds are removed while workers are killed.

Usage: faults.py FEED [--short] [--server PROGRAM] [--seed NUMBER]. FEED is the path of the command; PROGRAM is redis-server or
valkey-server. Takes about three minutes; with --short, a third of that.
"""
import mmap, os, random, re, signal, struct, subprocess, sys, time, urllib.request
from refusing import Refusing
from world import World, say, server

short = "--short" in sys.argv
program = sys.argv[sys.argv.index("--server") + 1] if "--server" in sys.argv else "redis-server"
world = World(sys.argv[1], "", lease="2s" if short else "4s")
sock = world.folder + "/s"
seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else random.randrange(1_000_000)
random.seed(seed)
say(f"seed {seed}")
library, setting = world.folder + "/clock.so", world.folder + "/clock"
subprocess.run(["clang", "-shared", "-fPIC", "-o", library, os.path.dirname(os.path.abspath(__file__)) + "/clock.c"], check=True)
with open(setting, "wb") as file:
    file.write(bytes(8))
clock = mmap.mmap(os.open(setting, os.O_RDWR), 8)
proxy = Refusing(world.folder + "/p", sock, seed)
world.store = "unix://" + world.folder + "/p"


def engine():
    return server(
        world, "env", f"LD_PRELOAD={library}", f"CLOCK_FILE={setting}", program, "--port", "0", "--unixsocket", sock, "--save", "",
        "--dir", world.folder, cli=["-s", sock])


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


def feeds_of(port):
    """How many feeds a gateway shows."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20).read().decode()
    return len(re.findall(r"^feed_up\{", text, re.M))


def refuse(share, seconds, ports):
    """The store refuses a `share` of a hundred commands. Nobody takes that for an empty store."""
    before = [client.resets for client in clients]
    known = [feeds_of(port) for port in ports]
    passed, refused = proxy.passed, proxy.refused
    proxy.share = share
    end = time.time() + seconds
    while time.time() < end:
        time.sleep(0.5)
        for port, count in zip(ports, known):
            if feeds_of(port) != count or count <= 0:
                world.problems.append(f"a gateway shows {feeds_of(port)} feeds instead of {count} while the store refuses")
    proxy.share = 0
    say(f"{proxy.refused - refused} of {proxy.refused - refused + proxy.passed - passed} commands were refused")
    # Leases that could not be extended or completed are over first, and pauses after failures.
    world.until_polled(f"the store refused {share} of 100 commands", 40)
    if [client.resets for client in clients] != before:
        world.problems.append("a gateway took a refusal for a store restored from an older file")


def set_clock(seconds):
    """Sets the server's clock forward, or back."""
    before = int(world.cli("TIME").split()[0])
    clock[:8] = struct.pack("q", struct.unpack("q", clock[:8])[0] + seconds)
    if abs(int(world.cli("TIME").split()[0]) - before - seconds) > 2:
        sys.exit("the server's clock did not change")
    # What is left of a gap at that moment, and of those until both clocks agree, is up to a tenth shorter.
    world.mute(3)
    world.least = 0.85
    time.sleep(1)
    world.until_polled(f"the store's clock was set by {seconds} s", 20)


def pause_under_kills():
    """A host is paused, a feed of another one is removed, and a worker is killed that may have both."""
    keys = random.sample(world.expected, 2)
    host = keys[0].split("/")[0]
    run = [world.feed, "fleet", "pause", host, "--for", "4s", "--store", world.store]
    subprocess.run(run, stdout=subprocess.DEVNULL)
    start = time.time()
    subprocess.run([world.feed, "subscriptions", "remove", f"http://{keys[1]}", "--store", world.store], stdout=subprocess.DEVNULL)
    workers[-1].kill()
    workers[-1] = world.worker()
    time.sleep(max(0, start + 3.5 - time.time()))
    if world.last.get(host, 0) > start + 0.3:
        world.problems.append(f"{host} was requested {world.last[host] - start:.1f} s after it was paused")
    subprocess.run([world.feed, "subscriptions", "add", f"http://{keys[1]}", "--store", world.store], stdout=subprocess.DEVNULL)
    world.until_polled("a host was paused, a feed removed, and a worker killed", 30)


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
        world.until_polled("without a fault", 20)
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
    world.until_polled("the store was frozen", 30)
    for seconds in (-86_400, 86_400) if short else (-86_400, 60, 86_400, -60):
        set_clock(seconds)
    for _ in range(1 if short else 4):
        pause_under_kills()
    for share in (30,) if short else (10, 30, 60):
        refuse(share, 4 if short else 10, [gateways[1][1]])
    resets = sum(client.resets for client in clients)
    if resets:
        world.problems.append(f"clients were reset {resets} times unnecessarily")
    if not short:
        world.cli("SAVE")
        time.sleep(4)
        restart("the store was restored from an older file", lambda: None, 40)
        time.sleep(6)
        if any(client.resets == 0 for client in clients):
            world.problems.append("a client was not reset after the store was restored from an older file")
    before = [client.resets for client in clients]
    restart("the store was restarted empty", lambda: os.path.exists(world.folder + "/dump.rdb") and os.remove(world.folder + "/dump.rdb"), 40)
    time.sleep(6 if short else 8)
    if any(client.resets == count for client, count in zip(clients, before)):
        world.problems.append("a client was not reset after the store was restarted empty")
    world.finish([*workers[0 if short else 1:], gateways[1][0]], clients)
finally:
    status = world.end()
sys.exit(status)
