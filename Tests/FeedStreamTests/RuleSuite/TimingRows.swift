import FeedStream
import FeedStreamTesting

private let late: StreamInstant.Stride = .milliseconds(2)

let timingRows: [RuleRow] = [
  RuleRow("Operators/Timing/CollectByTime", "collect(byTime)", timed: .dependsOnDemand) {
    $0.collect(.byTime($1, late))
  },
  RuleRow("Operators/Timing/CollectByTime", "collect(byTimeOrCount)", timed: .dependsOnDemand) {
    $0.collect(.byTimeOrCount($1, late, 2))
  },
  RuleRow("Operators/Timing/CollectOn", "buffer(on:)", timed: .dependsOnDemand) {
    $0.buffer(on: Publishers.Interval(every: late, scheduler: $1))
  },
  RuleRow("Operators/Timing/Debounce", "debounce", timed: .dependsOnDemand) { $0.debounce(for: late, scheduler: $1) },
  RuleRow("Operators/Timing/Delay", "delay", timed: []) { $0.delay(for: late, scheduler: $1) },
  RuleRow("Operators/Timing/DelaySubscription", "delaySubscription", timed: []) {
    $0.delaySubscription(for: late, scheduler: $1)
  },
  RuleRow("Operators/Timing/PrefixFor", "prefix(for:)", timed: .dependsOnDemand) {
    $0.prefix(for: late, scheduler: $1)
  },
  RuleRow("Operators/Timing/ReceiveOn", "receive(on:)", timed: []) { $0.receive(on: $1) },
  RuleRow("Operators/Timing/Sample", "sample(on:)", timed: .dependsOnDemand) {
    $0.sample(on: Publishers.Interval(every: late, scheduler: $1))
  },
  RuleRow("Operators/Timing/SubscribeOn", "subscribe(on:)", timed: []) { $0.subscribe(on: $1) },
  RuleRow("Operators/Timing/Throttle", "throttle(latest)", timed: .dependsOnDemand) {
    $0.throttle(for: late, scheduler: $1, latest: true)
  },
  RuleRow("Operators/Timing/Throttle", "throttle(first)", timed: .dependsOnDemand) {
    $0.throttle(for: late, scheduler: $1, latest: false)
  },
  RuleRow("Operators/Timing/Timeout", "timeout", timed: .dependsOnDemand) {
    $0.timeout(.milliseconds(20), scheduler: $1, customError: { MarbleFailure() })
  },
  RuleRow("Operators/Timing/TimeoutFallback", "timeout(fallback:)", timed: .dependsOnDemand) {
    $0.timeout(.milliseconds(20), scheduler: $1, fallback: Fail(error: MarbleFailure()))
  },
  RuleRow("Operators/Timing/Window", "window(2)", .dependsOnDemand) { $0.window(2).map { _ in "window" } },
]

let sharingRows: [RuleRow] = [
  RuleRow("Operators/Sharing/Autoconnect", "multicast.autoconnect", .dependsOnDemand) {
    $0.multicast { PassthroughSubject() }.autoconnect()
  },
  RuleRow("Operators/Sharing/Multicast", "makeConnectable.autoconnect", .dependsOnDemand) {
    $0.replaceError(with: 9).makeConnectable().autoconnect()
  },
  RuleRow("Operators/Sharing/Share", "share", .dependsOnDemand) { $0.share() },
  RuleRow("Operators/Sharing/Share", "share(replay: 2)", .dependsOnDemand) { $0.share(replay: 2) },
]

private struct Nowhere: TextOutputStream { func write(_ string: String) {} }

let effectRows: [RuleRow] = [
  RuleRow("Operators/Effects/Breakpoint", "breakpoint", .passesStrays) { $0.breakpoint(receiveOutput: { _ in false }) },
  RuleRow("Operators/Effects/HandleEvents", "handleEvents", .passesStrays) { $0.handleEvents(receiveOutput: { _ in }) },
  RuleRow("Operators/Effects/MeasureInterval", "measureInterval", timed: .dependsOnDemand) {
    $0.measureInterval(using: $1)
  },
  RuleRow("Operators/Effects/Print", "print", .passesStrays) { $0.print("", to: Nowhere()) },
]

let publisherRows: [RuleRow] = [
  RuleRow("Publishers/Create", "create") { _ in
    Publishers.Create<Int, Never> { emitter in
      for value in 0..<5 { emitter.send(value) }
      emitter.send(completion: .finished)
    }
  },
  RuleRow("Publishers/Deferred", "Deferred", .passesStrays) { upstream in Deferred { upstream } },
  RuleRow("Publishers/Empty", "Empty") { _ in Empty<Int, Never>() },
  RuleRow("Publishers/Fail", "Fail") { _ in Fail<Int, MarbleFailure>(error: MarbleFailure()) },
  RuleRow("Publishers/Future", "Future, at once") { _ in Future<Int, Never> { $0(.success(1)) } },
  RuleRow("Publishers/Future", "Future, later", timed: []) { _, time in
    Future<Int, Never> { promise in time.schedule { promise(.success(1)) } }
  },
  RuleRow("Publishers/Generate", "generate") { _ in
    Publishers.Generate(state: 0) { state in
      state += 1
      return state < 6 ? state : nil
    }
  },
  RuleRow("Publishers/Interval", "interval", timed: .dependsOnDemand) {
    Publishers.Interval(every: late, scheduler: $1).prefix(4)
  },
  RuleRow("Publishers/Just", "Just") { _ in Just(1) },
  RuleRow("Publishers/OptionalPublisher", "Optional.publisher") { _ in Optional(1).publisher },
  RuleRow("Publishers/Record", "Record") { _ in
    Record<Int, MarbleFailure>(output: [1, 2, 3], completion: .failure(MarbleFailure()))
  },
  RuleRow("Publishers/ResultPublisher", "Result.publisher") { _ in Result<Int, MarbleFailure>.success(1).publisher },
  RuleRow("Publishers/Sequence", "Sequence.publisher") { _ in [1, 2, 3, 4].publisher },
  RuleRow("Publishers/Timer", "timer.autoconnect", timed: .dependsOnDemand) {
    $1.timer(every: late).autoconnect().prefix(3)
  },
  RuleRow("Publishers/Using", "using", .passesStrays) { upstream in
    Publishers.using({ 1 }, dispose: { _ in }, publisher: { _ in upstream })
  },
]
