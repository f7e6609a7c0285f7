import FeedStream

/// Measures whether the stack grows with the number of values.
struct StackProbe<P: Publisher> {
  let build: RuleRun<P>.Build

  /// The number of values: enough to detect a growing stack, and few enough that it does not overflow.
  private static var count: Int { 1000 }
  /// The permitted distance in bytes between two deliveries on different paths: the frames of seven nested operators,
  /// enlarged by a sanitizer. A growing stack takes several frames per value, more than twice this distance in total.
  private static var tolerance: UInt { 96_000 }

  var breach: RuleRun<P>.Breach? {
    for demand in [DemandScript.oneByOne, .unlimited] {
      let depth = depth(demand, byRequest: true) { time, _ in
        let events = (0..<Self.count).map {
          (time: StreamInstant.Stride(nanoseconds: 0), event: StreamEvent<Int, MarbleFailure>.value($0))
        }
        return AnyPublisher(ScriptedPublisher(.synchronous, events + [(0, .completion(.finished))], on: time))
      }
      if let breach = breach(depth, "while \(Self.count) values were delivered, demand: \(demand)") { return breach }
    }
    for byRequest in [false, true] {
      let depth = depth(.oneByOne, byRequest: byRequest) { _, feedback in
        let subject = PassthroughSubject<Int, MarbleFailure>(of: "StackProbe")
        feedback.send = { [unowned subject] in subject.send($0) }
        return AnyPublisher(subject)
      }
      let manner = byRequest ? "with request(_:)" : "by returning demand"
      if let breach = breach(
        depth, "while \(Self.count) values were sent, each within the delivery of the one before, requested \(manner)")
      {
        return breach
      }
    }
    return nil
  }

  private func breach(_ depth: UInt, _ occasion: String) -> RuleRun<P>.Breach? {
    guard depth > Self.tolerance else { return nil }
    return RuleRun<P>.Breach(rule: .flatStack, message: "the stack grew by \(depth / 1000) kB \(occasion)")
  }

  /// Lets the subscriber send values into upstream.
  private final class Feedback {
    var send: ((Int) -> Void)?
    var sent = 0

    /// Sends one more value, if upstream accepts values and not enough have been sent.
    func go() {
      guard let send, sent < StackProbe.count else { return }
      sent += 1
      send(sent)
    }
  }

  /// The distance in bytes between the highest and the lowest delivery on the stack.
  private func depth(
    _ demand: DemandScript, byRequest: Bool,
    _ source: (VirtualTimeScheduler, Feedback) -> AnyPublisher<Int, MarbleFailure>
  ) -> UInt {
    let time = VirtualTimeScheduler()
    let outer = CurrentDomain.enter(time)
    defer { CurrentDomain.leave(outer) }
    let feedback = Feedback()
    var lowest = UInt.max
    var highest = UInt.min
    let recorder = Recorder<P.Output, P.Failure>(on: time, demand: demand)
    recorder.onViolation = { _, _ in }
    recorder.answersByRequest = byRequest
    recorder.onCallback = { [unowned recorder] in
      var here = 0
      let address = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
      lowest = Swift.min(lowest, address)
      highest = Swift.max(highest, address)
      if recorder.ledger.used > 0 { feedback.go() }
    }
    let upstream = source(time, feedback)
    build(upstream, time).subscribe(recorder)
    for _ in 0..<Self.count {
      // Send the next value from here if the operator has dropped the one that was sent during a delivery, because it
      // has no buffer.
      feedback.go()
      if case .moved = time.step(recorder.site) { continue }
      guard feedback.send != nil, feedback.sent < Self.count else { break }
    }
    _ = recorder.events
    recorder.onCallback = nil
    recorder.cancel()
    return highest > lowest ? highest - lowest : 0
  }
}
