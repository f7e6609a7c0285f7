import FeedStream

extension Publisher {
  /// Subscribes a ``Recorder`` and cancels it at the times that a diagram shows.
  ///
  ///     let source = time.hot("--a--b--c--d--|")
  ///     let recorder = source.record(on: time, during: "---^------!")
  ///     time.run()
  ///     recorder.expect(       "-----b--c")
  ///     source.expectSubscriptions("---^------!")
  ///
  /// The recorder's times are relative to the beginning of the diagram, so that the lines can be aligned. In the
  /// scheduled order, `^` and `!` come before all other work that is due at their instant; in a seeded order, they may
  /// come anywhere among that work.
  ///
  /// - Parameters:
  ///   - time: the scheduler; the diagram begins now.
  ///   - demand: the recorder's requests; times are relative to its subscription.
  ///   - subscription: the diagram; see ``SubscriptionMarbles``. `"---!"` subscribes now; `"---^"` never cancels.
  ///   - frame: the duration of one character.
  public func record(
    on time: VirtualTimeScheduler, demand: DemandScript = .unlimited, during subscription: String,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Recorder<Output, Failure> {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    let recorder = Recorder<Output, Failure>(
      on: time, demand: demand, fileID: fileID, filePath: filePath, line: line, column: column)
    recorder.subscribe(to: self, during: subscription, frame, site)
    return recorder
  }
}

extension Recorder {
  /// Subscribes to `publisher`, and cancels, at the times that a diagram shows.
  func subscribe<P: Publisher>(
    to publisher: P, during subscription: String, _ frame: StreamInstant.Stride, _ site: CallSite
  ) where P.Output == Input, P.Failure == Failure {
    // The default: times are relative to the subscription, which may arrive late.
    if subscription == "^" { return subscribe(to: publisher) }
    let diagram: SubscriptionMarbles
    do throws(MarbleError) {
      diagram = try SubscriptionMarbles(subscription, frame: frame)
    } catch {
      fail("\(error)", site)
      return time.audit.noteUnreadable()
    }
    let start = time.now
    origin = start
    let begin = diagram.subscribed ?? 0
    func enter() {
      subscribe(to: publisher)
      if diagram.unsubscribed == begin { cancel() }
    }
    func plan(_ offset: StreamInstant.Stride, _ action: @escaping () -> Void) {
      schedule(at: start.advanced(by: offset), in: 0, site, action)
    }
    if begin == 0 { enter() } else { plan(begin, enter) }
    if let end = diagram.unsubscribed, end != begin { plan(end) { self.cancel() } }
  }
}
