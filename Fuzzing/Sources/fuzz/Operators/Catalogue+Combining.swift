import FeedStream
import FeedStreamTesting

/// As in Combine, a value that is replaced while it waits for the other publisher's first value uses up demand: a
/// limited request may then wait forever.
private let waitsForOther: Traits = [.dependsOnDemand, .mayStayOpen]

let combining: [Step] = [
  Step("buffer", .dependsOnDemand) { up, tape, _ in
    let strategies: [Publishers.BufferingStrategy<MarbleFailure>] = [
      .dropOldest, .dropNewest, .customError { MarbleFailure() },
    ]
    let (size, strategy) = (tape.below(3) + 1, strategies[tape.below(3)])
    return up.buffer(size: size, prefetch: tape.below(2) == 0 ? .byRequest : .keepFull, whenFull: strategy)
  },
  Step("buffer(keepFull)", .failsAtOnce) { up, tape, _ in
    up.buffer(size: tape.below(3) + 1, prefetch: .keepFull, whenFull: .dropNewest)
  },
  Step("combineLatest", waitsForOther) { up, tape, world in
    up.combineLatest(source(&tape, world)).map { small($0.0 + $0.1) }
  },
  Step("combineLatest of three", waitsForOther) { up, tape, world in
    up.combineLatest(source(&tape, world), up).map { small($0.0 + $0.1 + $0.2) }
  },
  Step("combineLatest of a collection", waitsForOther) { up, tape, world in
    [up, source(&tape, world)].combineLatest().map { small($0.reduce(0, +)) }
  },
  Step("append") { up, tape, world in up.append(source(&tape, world)) },
  Step("append values") { up, _, _ in up.append(7, 8) },
  Step("prepend") { up, tape, world in up.prepend(source(&tape, world)) },
  Step("flatMap", .dependsOnDemand) { up, tape, world in
    let inner = source(&tape, world)
    return up.flatMap { _ in inner }
  },
  Step("flatMap to sequences", .dependsOnDemand) { up, _, _ in
    up.flatMap { [$0, $0].publisher.setFailureType(to: MarbleFailure.self) }
  },
  Step("flatMap(maxPublishers:)", .dependsOnDemand) { up, tape, world in
    let inner = source(&tape, world)
    return up.flatMap(maxPublishers: .max(tape.below(2) + 1)) { _ in inner }
  },
  Step("flatMap to Just", .failsAtOnce) { up, _, _ in
    up.flatMap { Just(small($0 + 1)).setFailureType(to: MarbleFailure.self) }
  },
  Step("concatMap", .failsAtOnce) { up, tape, world in
    let inner = source(&tape, world)
    return up.concatMap { _ in inner }
  },
  Step("flatMapFirst", .dependsOnDemand) { up, tape, world in
    let inner = source(&tape, world)
    return up.flatMapFirst { _ in inner }
  },
  Step("switchToLatest", .dependsOnDemand) { up, tape, world in
    let inner = source(&tape, world)
    return up.map { _ in inner }.switchToLatest()
  },
  Step("expand", .dependsOnDemand) { up, _, _ in
    up.expand { value in
      value >= 8 ? Upstream(Empty()) : Upstream(Just(value + 8).setFailureType(to: MarbleFailure.self))
    }
  },
  Step("groupBy", .dependsOnDemand) { up, _, _ in up.groupBy { $0 % 2 }.flatMap { $0 } },
  Step("merge", .dependsOnDemand) { up, tape, world in up.merge(with: source(&tape, world)) },
  Step("merge with itself", .dependsOnDemand) { up, tape, world in Publishers.MergeMany(up, source(&tape, world), up) },
  Step("merge of four", .dependsOnDemand) { up, tape, world in
    let (other, another) = (source(&tape, world), source(&tape, world))
    return up.merge(with: other, another, up)
  },
  Step("onBackpressureDrop", .dependsOnDemand) { up, _, _ in up.onBackpressureDrop() },
  Step("onBackpressureLatest", .dependsOnDemand) { up, _, _ in up.onBackpressureLatest() },
  Step("onBackpressureError", [.dependsOnDemand, .mayFail]) { up, _, _ in
    up.onBackpressureError { _ in MarbleFailure() }
  },
  Step("race", .dependsOnDemand) { up, tape, world in up.race(with: source(&tape, world)) },
  Step("withLatestFrom", .dependsOnDemand) { up, tape, world in
    up.withLatestFrom(source(&tape, world)).map { small($0.0 + $0.1) }
  },
  Step("zip", .failsAtOnce) { up, tape, world in up.zip(source(&tape, world)).map { small($0.0 + $0.1) } },
  Step("zip of three", .failsAtOnce) { up, tape, world in
    up.zip(source(&tape, world), up).map { small($0.0 + $0.1 + $0.2) }
  },
  Step("zip of any arity", .failsAtOnce) { up, tape, world in
    zip(up, source(&tape, world), up).map { small($0.0 + $0.1 + $0.2) }
  },
  Step("zip of a collection", .failsAtOnce) { up, tape, world in
    [up, source(&tape, world)].zip().map { small($0.reduce(0, +)) }
  },
  Step("Deferred") { up, _, _ in Deferred { up } },
  Step("using") { up, _, world in
    Publishers.using({ world.existing += 1 }, dispose: { world.existing -= 1 }, publisher: { up })
  },
]

private func milliseconds(_ tape: inout Tape) -> StreamInstant.Stride { .milliseconds(tape.below(4) + 1) }

let timing: [Step] = [
  Step("collect(byTime)", .dependsOnDemand) { up, tape, world in
    up.collect(.byTime(world.time, milliseconds(&tape))).map { small($0.count) }
  },
  Step("collect(byTimeOrCount)", .dependsOnDemand) { up, tape, world in
    up.collect(.byTimeOrCount(world.time, milliseconds(&tape), 2)).map { small($0.count) }
  },
  Step("buffer(on:)", .dependsOnDemand) { up, tape, world in
    up.buffer(on: Interval(every: milliseconds(&tape), scheduler: world.time)).map { small($0.count) }
  },
  Step("debounce", .dependsOnDemand) { up, tape, world in up.debounce(for: milliseconds(&tape), scheduler: world.time)
  },
  Step("delay") { up, tape, world in up.delay(for: milliseconds(&tape), scheduler: world.time) },
  Step("delaySubscription") { up, tape, world in
    up.delaySubscription(for: milliseconds(&tape), scheduler: world.time)
  },
  Step("prefix(for:)", .dependsOnDemand) { up, tape, world in up.prefix(for: milliseconds(&tape), scheduler: world.time)
  },
  Step("receive(on:)") { up, _, world in up.receive(on: world.time) },
  Step("sample", .dependsOnDemand) { up, tape, world in up.sample(every: milliseconds(&tape), scheduler: world.time) },
  Step("subscribe(on:)", .cancelsLate) { up, _, world in up.subscribe(on: world.time) },
  Step("throttle", .dependsOnDemand) { up, tape, world in
    up.throttle(for: milliseconds(&tape), scheduler: world.time, latest: tape.below(2) == 1)
  },
  Step("timeout", [.dependsOnDemand, .mayFail]) { up, tape, world in
    up.timeout(milliseconds(&tape), scheduler: world.time, customError: { MarbleFailure() })
  },
  Step("timeout(fallback:)", .dependsOnDemand) { up, tape, world in
    up.timeout(milliseconds(&tape), scheduler: world.time, fallback: source(&tape, world))
  },
  Step("window(count)", .dependsOnDemand) { up, tape, _ in up.window(tape.below(3) + 1).flatMap { $0 } },
  Step("window(time)", .dependsOnDemand) { up, tape, world in
    up.window(for: milliseconds(&tape), scheduler: world.time).flatMap { $0 }
  },
  Step("measureInterval", .dependsOnDemand) { up, _, world in
    up.measureInterval(using: world.time).map { small(Int($0.nanoseconds / 1_000_000)) }
  },
]

let sharing: [Step] = [
  Step("multicast.autoconnect", .dependsOnDemand) { up, _, _ in
    up.multicast { PassthroughSubject() }.autoconnect()
  },
  Step("makeConnectable", .dependsOnDemand) { up, _, _ in
    up.replaceError(with: 9).makeConnectable().autoconnect().setFailureType(to: MarbleFailure.self)
  },
  Step("share", .dependsOnDemand) { up, _, _ in up.share() },
  Step("share(replay:)", .dependsOnDemand) { up, tape, _ in up.share(replay: tape.below(3)) },
]
