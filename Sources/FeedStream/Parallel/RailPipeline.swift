/// A loop's pipeline, and its messages to and from the home.
// @unchecked: used only on its loop after the initializer; the reports to the home are `Sendable`.
final class RailPipeline<Input: Sendable, Output: Sendable, Failure: Error>: @unchecked Sendable {
  /// The changes on a loop since the last report to the home.
  struct News: Sendable {
    var outputs: ContiguousArray<Output>
    var completion: Subscribers.Completion<Failure>?
    var asked: Subscribers.Demand
    /// True if the pipeline accepts no more values.
    var isDeaf: Bool
  }

  private let domain: any StreamDomain
  private let report: @Sendable (News) -> Void
  /// Called when the loop is closed before the pipeline is over.
  private let whenClosed: @Sendable () -> Void
  private var inlet: RailInlet<Input, Failure>?
  private var outlet: RailOutlet<Output, Failure>?
  private var isTelling = false
  private var isOver = false

  init(
    _ domain: any StreamDomain, report: @escaping @Sendable (News) -> Void, whenClosed: @escaping @Sendable () -> Void
  ) {
    self.domain = domain
    self.report = report
    self.whenClosed = whenClosed
  }

  // MARK: On its loop

  func begin(
    window: Int, _ assemble: (RailInlet<Input, Failure>, RailOutlet<Output, Failure>) -> Void
  ) {
    guard !isOver else { return }
    let inlet = RailInlet<Input, Failure>(tell: { [weak self] in self?.tell() })
    let outlet = RailOutlet<Output, Failure>(window: window, tell: { [weak self] in self?.tell() })
    (self.inlet, self.outlet) = (inlet, outlet)
    domain.whenClosed(ObjectIdentifier(self)) { [weak self] in self?.close() }
    assemble(inlet, outlet)
    tellNow()
  }

  private func close() {
    tellNow()
    cancel()
    whenClosed()
  }

  func deliver(_ values: ContiguousArray<Input>) {
    let left = inlet?.deliver(values) ?? ArraySlice(values)
    for value in left { StreamDiagnostics.dropped(value, "Parallel", .terminated) }
    tellNow()
  }

  func end(_ completion: Subscribers.Completion<Failure>) {
    inlet?.end(completion)
    tellNow()
  }

  func request(_ count: Int) {
    outlet?.request(count)
    tellNow()
  }

  func cancel() {
    over()
    isOver = true
    outlet.take()?.cancel()
    inlet = nil
  }

  private func over() { domain.whenClosed(ObjectIdentifier(self), nil) }

  /// Schedules a report to the home: all changes until the next turn are reported together.
  private func tell() {
    guard !isTelling, inlet?.isDelivering != true else { return }
    isTelling = true
    domain.bring { if self.isTelling { self.tellNow() } }
  }

  private func tellNow() {
    isTelling = false
    guard let inlet, let outlet else { return }
    let (outputs, completion) = outlet.take()
    let news = News(outputs: outputs, completion: completion, asked: inlet.takeAsked(), isDeaf: !inlet.isLive)
    if completion != nil {
      over()
      (self.inlet, self.outlet) = (nil, nil)
    }
    report(news)
  }
}
