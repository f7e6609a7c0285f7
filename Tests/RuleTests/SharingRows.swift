import FeedStream
import FeedStreamTesting

let sharingRows = rows {
  RuleRow(
    "Operators/Sharing/Autoconnect", "multicast(_:).autoconnect()", .dropsUnasked, expects: { .values($0.values) }
  ) {
    $0.multicast { PassthroughSubject() }.autoconnect()
  }
  RuleRow(
    "Operators/Sharing/Multicast", "multicast(subject:)", .dropsUnasked, expects: { .values($0.values) }
  ) {
    $0.multicast(subject: PassthroughSubject()).autoconnect()
  }
  RuleRow(
    "Operators/Sharing/Multicast", "makeConnectable()", .dropsUnasked,
    expects: { .values($0.replaced, then: .finished) }
  ) {
    $0.replaceError(with: 9).makeConnectable().autoconnect()
  }
  RuleRow("Operators/Sharing/Share", "share()", .dropsUnasked, expects: { .values($0.values) }) { $0.share() }
  RuleRow("Operators/Sharing/Share", "share(replay:)", .dropsUnasked, expects: { .values($0.values) }) {
    $0.share(replay: 2)
  }
  RuleRow(
    "Operators/Sharing/ShareResetting", "share(resetOnError:resetOnComplete:resetOnRefCountZero:)", .dropsUnasked,
    expects: { .values($0.values) }
  ) {
    $0.share(resetOnError: true, resetOnComplete: true)
  }
  RuleRow(
    "Subjects/PassthroughSubject", "PassthroughSubject", .dropsUnasked, expects: { .values($0.values) }
  ) {
    $0.multicast { PassthroughSubject() }.autoconnect()
  }
  RuleRow(
    "Subjects/CurrentValueSubject", "CurrentValueSubject", .dropsUnasked, expects: { .values([-1] + $0.values) }
  ) {
    $0.multicast { CurrentValueSubject(-1) }.autoconnect()
  }
  RuleRow("Subjects/ReplaySubject", "ReplaySubject of everything", expects: { .values($0.values) }) {
    $0.multicast { ReplaySubject(count: .max) }.autoconnect()
  }
  RuleRow("Subjects/ReplaySubject", "ReplaySubject of one", .dropsUnasked, expects: { .values($0.values) }) {
    $0.multicast { ReplaySubject(count: 1) }.autoconnect()
  }
}

private struct Nowhere: TextOutputStream { func write(_ string: String) {} }

let effectRows = rows {
  RuleRow(
    "Operators/Effects/Breakpoint", "breakpoint(receiveSubscription:receiveOutput:receiveCompletion:)", .passesStrays,
    expects: { .values($0.values) }
  ) {
    $0.breakpoint(receiveOutput: { _ in false })
  }
  RuleRow(
    "Operators/Effects/Checkpoint", "checkpoint(_:file:line:)", .passesStrays, expects: { .values($0.values) }
  ) {
    $0.checkpoint("here")
  }
  RuleRow(
    "Operators/Effects/HandleEvents",
    "handleEvents(receiveSubscription:receiveOutput:receiveCompletion:receiveCancel:receiveRequest:)", .passesStrays,
    expects: { .values($0.values) }
  ) {
    $0.handleEvents(receiveOutput: { _ in })
  }
  RuleRow(
    "Operators/Effects/MeasureInterval", "measureInterval(using:options:)", timed: .dependsOnDemand,
    expects: { given in .values(given.values.map { _ in given.isTimed ? .milliseconds(1) : 0 }) }
  ) {
    $0.measureInterval(using: $1)
  }
  RuleRow("Operators/Effects/Print", "print(_:to:)", .passesStrays, expects: { .values($0.values) }) {
    $0.print("", to: Nowhere())
  }
}

let parallelRows = rows {
  RuleRow(
    "Parallel/ParallelMap", "parallelMap(on:width:limit:ordering:_:)", timed: [],
    expects: { .values($0.values.map { $0 * 2 }) }
  ) { upstream, time in
    upstream.parallelMap(on: EventLoopGroup(count: 3, on: time), limit: 4) { $0 * 2 }
  }
  RuleRow(
    "Parallel/ParallelMap", "parallelMap(on:width:limit:ordering:_:), asCompleted", timed: [],
    expects: { .interleaved($0.values.map { [$0 * 2] }) }
  ) { upstream, time in
    upstream.parallelMap(on: EventLoopGroup(count: 3, on: time), limit: 4, ordering: .asCompleted) { $0 * 2 }
  }
  RuleRow(
    "Parallel/ParallelMap", "tryParallelMap(on:width:limit:ordering:_:)", timed: [],
    expects: { .values($0.values.map { $0 * 2 }) }
  ) { upstream, time in
    upstream.tryParallelMap(on: EventLoopGroup(count: 2, on: time)) { $0 * 2 }
  }
  RuleRow(
    "Parallel/Parallel", "parallel(on:width:limit:_:)", timed: [],
    expects: { .interleaved($0.values.map { [$0 * 2] }) }
  ) { upstream, time in
    upstream.parallel(on: EventLoopGroup(count: 3, on: time), limit: 6) { rail in rail.map { $0 * 2 } }
  }
  RuleRow(
    "Parallel/ReceiveOnLoop", "receive(on:), another loop and back", timed: [], expects: { .values($0.values) }
  ) { upstream, time in
    Publishers.ReceiveOn(crossing: upstream.receive(on: VirtualLoop(on: time)), to: time)
  }
}

let concurrencyRows = rows {
  RuleRow("Concurrency/KeepsLoopAlive", "keepsLoopAlive(_:)", .passesStrays, expects: { .values($0.values) }) {
    $0.keepsLoopAlive(false)
  }
  RuleRow(
    "Concurrency/MapAsync", "mapAsync(limit:order:_:)", timed: [],
    expects: { .values($0.values.map { $0 * 2 }) }
  ) { upstream, _ in
    upstream.mapAsync(limit: 2) { $0 * 2 }
  }
  RuleRow(
    "Concurrency/MapAsync", "mapAsync(limit:order:_:), asCompleted", timed: [],
    expects: { .interleaved($0.values.map { [$0 * 2] }) }
  ) { upstream, time in
    upstream.mapAsync(limit: 3, order: .asCompleted) { value in
      if value == 0 { try? await Task.sleep(for: .milliseconds(5), clock: time) }
      return value * 2
    }
  }
  RuleRow(
    "Concurrency/MapAsync", "mapAsync(limit:order:_:), the first takes longest", timed: [],
    expects: { .values($0.values.map { $0 * 2 }) }
  ) { upstream, time in
    upstream.mapAsync(limit: 3) { value in
      if value == 0 { try? await Task.sleep(for: .milliseconds(5), clock: time) }
      return value * 2
    }
  }
  RuleRow(
    "Concurrency/MapAsync", "tryMapAsync(limit:order:_:)", timed: [],
    expects: { .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) { upstream, _ in
    upstream.tryMapAsync(limit: 2) { try refusingTwo($0, $0) }
  }
  RuleRow(
    "Concurrency/AsyncElements", "publisher of values", timed: [],
    expects: { .values($0.replaced, then: .finished) }
  ) { upstream, _ in
    upstream.replaceError(with: 9).values.publisher
  }
  RuleRow(
    "Concurrency/AsyncThrowingPublisher", "publisher of values that may fail", timed: [],
    expects: { .values($0.values) }
  ) { upstream, _ in
    upstream.values.publisher
  }
}
