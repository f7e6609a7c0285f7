import FeedStream

/// Sends two values during the delivery of another, one before and one after a request, and checks that no delivered
/// value overtakes an earlier one (rule 7).
struct OrderProbe<P: Publisher> {
  let build: RuleRun<P>.Build

  func breach(of expects: (Given) -> Due<P.Output>) -> RuleRun<P>.Breach? {
    for demand in [Subscribers.Demand.max(1), .unlimited] {
      let (passed, values) = run(demand)
      // An expectation may depend on whether values arrive immediately or each at its own time, so try both.
      let accounted = [false, true].map { isTimed in
        expects(Given(offered: [0, 1, 2], runs: [passed], fails: false, isTimed: isTimed))
          .accounted(for: values, skipping: true)
      }.max()!
      guard accounted < values.count else { continue }
      return RuleRun<P>.Breach(
        rule: .orderIsKept,
        message:
          "\(values[accounted]) was delivered out of order, after \(values.prefix(accounted)). During the delivery of 0, "
          + "1 was sent, one more value was requested, and 2 was sent")
    }
    return nil
  }

  private func run(_ demand: Subscribers.Demand) -> (passed: [Int], values: [P.Output]) {
    let time = VirtualTimeScheduler()
    let outer = CurrentDomain.enter(time)
    defer { CurrentDomain.leave(outer) }
    let subject = PassthroughSubject<Int, MarbleFailure>(of: "OrderProbe")
    var passed: [Int] = []
    let recorder = Recorder<P.Output, P.Failure>(
      on: time, demand: DemandScript("\(demand), one more within the first delivery", initial: demand))
    recorder.onViolation = { _, _ in }
    var isFirst = true
    recorder.onCallback = { [unowned recorder] in
      guard isFirst, !recorder.values.isEmpty else { return }
      isFirst = false
      subject.send(1)
      recorder.request(.max(1))
      subject.send(2)
    }
    build(AnyPublisher(subject.handleEvents(receiveOutput: { passed.append($0) })), time).subscribe(recorder)
    subject.send(0)
    if recorder.isLive { recorder.request(.unlimited) }
    subject.send(completion: .finished)
    for _ in 0..<20 { guard case .moved = time.step(CallSite()) else { break } }
    recorder.onCallback = nil
    if recorder.isLive { recorder.cancel() }
    return (passed, recorder.values)
  }
}
