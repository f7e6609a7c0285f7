"""Runs a fleet for minutes or hours, with a fault every few seconds: workers, gateways and the store are killed, stopped, restored
and emptied, in any order. Counts lost and restored versions, and the time until polls continue.

Usage: torture.py FEED MINUTES [SEED]. FEED is the path of the command. Four workers, two gateways, 100 clients, 40 feeds every 5 s.
"""
import os, random, signal, statistics, sys, time
from world import World, free_port, say, server

minutes = float(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1_000_000)
random.seed(seed)
world = World(sys.argv[1], "", lease="4s", hosts=20, feeds=2, every="5s", least=0.5)
sock = world.folder + "/s"
world.store = "unix://" + sock
took, resets = {}, 0


def engine():
    return server(
        world, "redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", world.folder, cli=["-s", sock])


def kill(process):
    process.kill()
    process.wait()


def stop(process, seconds):
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def a_worker_was_killed():
    index = random.randrange(4)
    kill(workers[index])
    workers[index] = world.worker()


def all_workers_were_killed():
    for index in range(4):
        kill(workers[index])
    for index in range(4):
        workers[index] = world.worker()


def a_worker_was_ended():
    index = random.randrange(4)
    workers[index].send_signal(signal.SIGINT)
    if workers[index].wait(20) != 130:
        world.problems.append("a worker did not exit with the status for Ctrl-C")
    workers[index] = world.worker()


def a_worker_was_stopped():
    # Shorter and longer than its lease, after which another one may ask.
    world.mute(12)
    stop(random.choice(workers), random.choice([1, 3, 6]))


def a_gateway_was_killed():
    index = random.randrange(2)
    kill(gateways[index][0])
    gateways[index] = world.gateway(gateways[index][1])


def a_gateway_was_stopped():
    stop(random.choice(gateways)[0], random.choice([1, 4, 12]))


def the_store_was_stopped():
    stop(redis, random.choice([1, 4, 12]))
    world.mute(6)


def the_store_came_back(older):
    """Older by some seconds, or empty."""
    global redis, resets
    before = [client.resets for client in clients]
    world.cli("SAVE")
    time.sleep(random.uniform(1, 5))
    kill(redis)
    if not older:
        os.remove(world.folder + "/dump.rdb")
    time.sleep(random.uniform(0, 2))
    redis = engine()
    world.mute(8)
    world.add()
    resets += 1
    world.wait_for("every client was reset", 30, lambda: all(client.resets > count for client, count in zip(clients, before)))


def the_store_came_back_older():
    the_store_came_back(True)


def the_store_came_back_empty():
    the_store_came_back(False)


faults = [
    a_worker_was_killed, all_workers_were_killed, a_worker_was_ended, a_worker_was_stopped, a_gateway_was_killed,
    a_gateway_was_stopped, the_store_was_stopped, the_store_came_back_older, the_store_came_back_empty,
]

try:
    redis = engine()
    say(f"seed {seed}; {world.add()}")
    workers = [world.worker() for _ in range(4)]
    gateways = [world.gateway(free_port()) for _ in range(2)]
    clients = world.clients(100, [port for _, port in gateways])
    world.until_polled("began", 40)
    end, number, bag = time.time() + minutes * 60, 0, []
    while time.time() < end and not world.problems:
        # Each of them as often as the others.
        bag = bag or random.sample(faults, len(faults))
        fault = bag.pop()
        number += 1
        what = fault.__name__.replace("_", " ")
        fault()
        seconds = world.until_polled(f"{number}: {what}", 60)
        took.setdefault(what, []).append(seconds or 60)
        time.sleep(random.uniform(0, 4))
        world.check(clients)
    # Nothing is lost: what is the newest in the store is the newest at every client.
    say(f"quiet: {world.quiet_down(clients)}")
    world.finish([*workers, *(process for process, _ in gateways)], clients)
    for what, times in sorted(took.items()):
        say(f"{what}: {len(times)} times; polls continued after {statistics.median(times):.1f} s (median), {max(times):.1f} s at most")
    say(f"{number} faults, {resets} of them with resets; lost updates: {world.lost}; feeds set back to an older version: {world.set_back}")
finally:
    status = world.end()
sys.exit(status)
