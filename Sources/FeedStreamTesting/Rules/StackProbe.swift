import FeedStream

/// Measures whether the stack grows with the number of values.
struct StackProbe<P: Publisher> {
  let build: RuleRun<P>.Build

  /// Enough values that a stack that grows with them cannot be missed, few enough that it does not overflow.
  private static var count: Int { 1000 }
  /// What may lie between two deliveries that come by different ways.
  private static var tolerance: UInt { 48_000 }

  var breach: RuleRun<P>.Breach? {
    for demand in [DemandScript.oneByOne, .unlimited] {
      let time = VirtualTimeScheduler()
      let events = (0..<Self.count).map {
        (time: StreamInstant.Stride(nanoseconds: 0), event: StreamEvent<Int, MarbleFailure>.value($0))
      }
      let source = ScriptedPublisher(
        .synchronous, events + [(0, .completion(.finished))], on: time)
      var lowest = UInt.max
      var highest = UInt.min
      let recorder = Recorder<P.Output, P.Failure>(on: time, demand: demand)
      recorder.onViolation = { _, _ in }
      recorder.answersByRequest = true
      recorder.onCallback = {
        var here = 0
        let address = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        lowest = Swift.min(lowest, address)
        highest = Swift.max(highest, address)
      }
      build(AnyPublisher(source), time).subscribe(recorder)
      for _ in 0..<Self.count { guard time.advanceToNextWork() else { break } }
      _ = recorder.events
      recorder.onCallback = nil
      recorder.cancel()
      if highest > lowest, highest - lowest > Self.tolerance {
        return RuleRun<P>.Breach(
          rule: .flatStack,
          message: "the stack grew by \((highest - lowest) / 1000) kB while \(Self.count) values were delivered, "
            + "demand: \(demand)")
      }
    }
    return nil
  }
}
