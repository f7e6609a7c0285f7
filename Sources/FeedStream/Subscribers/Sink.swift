public import Synchronization

extension Publisher {
  /// Subscribes closures to this publisher.
  ///
  /// **Demand:** requests everything immediately.
  ///
  /// - Parameters:
  ///   - receiveCompletion: receives the completion.
  ///   - receiveValue: receives each value.
  ///   - file: identifies the subscription in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that cancels the subscription when it is cancelled or released; keep it.
  @inlinable public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable {
    let sink = Subscribers.Sink(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
    let watch = SubscriptionWatch.begin(file, line)
    if let watch, watch.warns {
      watch.subscribe(sink, to: self, receiveValue)
      return AnyCancellable(sink, watch)
    }
    var receiveValue = receiveValue
    if let watch { receiveValue = watch.counting(receiveValue) }
    subscribe(SinkLink(sink, receiveValue))
    return watch == nil ? AnyCancellable(sink) : AnyCancellable(sink, watch)
  }
}

extension Publisher where Failure == Never {
  /// Subscribes a closure to this publisher, which cannot fail.
  ///
  /// **Demand:** requests everything immediately.
  ///
  /// - Parameters:
  ///   - receiveValue: receives each value.
  ///   - file: identifies the subscription in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that cancels the subscription when it is cancelled or released; keep it.
  @inlinable public func sink(
    receiveValue: @escaping (Output) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue, file: file, line: line)
  }
}

extension Subscribers {
  /// Passes the events that it receives to closures, and releases the closures at the completion.
  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
    // Optional, so that they can be released by setting them to `nil`. In unspecialized code, each empty closure in
    // their place would be an allocation.
    @exclusivity(unchecked) private var onValue: ((Input) -> Void)?
    @exclusivity(unchecked) private var onCompletion: ((Subscribers.Completion<Failure>) -> Void)?

    /// The closure that receives values; after the completion, a closure that does nothing.
    public var receiveValue: (Input) -> Void { onValue ?? { _ in } }
    /// The closure that receives the completion; after the completion, a closure that does nothing.
    public var receiveCompletion: (Subscribers.Completion<Failure>) -> Void { onCompletion ?? { _ in } }

    @exclusivity(unchecked) private var subscription: (any Subscription)?
    /// Upstream, if it may deliver on any thread.
    @exclusivity(unchecked) private var unconfined: UnconfinedUpstream?
    /// The lane in which this sink lives, if its subscription arrived on a queue.
    @exclusivity(unchecked) private var home: SubscriberLane?
    private let arrival = Arrival()
    /// Atomic, because one thread may cancel while another delivers upstream's values.
    @usableFromInline let phase = Atomic(open)

    /// The phase in which values are passed to the closure.
    @inlinable static var open: UInt8 { 0 }
    /// The phase until the first event from an upstream that may deliver on any thread.
    private static var beginning: UInt8 { 1 }
    private static var closed: UInt8 { 2 }

    public init(
      receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
      receiveValue: @escaping (Input) -> Void
    ) {
      onCompletion = receiveCompletion
      onValue = receiveValue
    }

    public func receive(subscription: any Subscription) {
      guard phase.load(ordering: .relaxed) == Self.open, self.subscription == nil else {
        subscription.cancel()
        return
      }
      var subscription = subscription
      if !subscription._isConfined {
        let upstream = UnconfinedUpstream()
        unconfined = upstream
        subscription = upstream.attach(subscription)
        phase.store(Self.beginning, ordering: .relaxed)
      }
      self.subscription = subscription
      home = .current
      guard arrival.arrive() else { return cancel() }
      subscription.request(.unlimited)
    }

    public func receive(_ value: Input) -> Subscribers.Demand {
      if takesEvents { onValue?(value) }
      return .none
    }

    public func receive(completion: Subscribers.Completion<Failure>) {
      // Stop if the sink has been cancelled, perhaps on another thread.
      guard takesEvents else { return }
      discard(subscription.take())
      phase.store(Self.closed, ordering: .relaxed)
      onCompletion?(completion)
      releaseClosures()
    }

    public func cancel() {
      // From now on, no value is passed on. If the subscription has not arrived yet, as with `subscribe(on:)`, it will
      // be refused.
      phase.store(Self.closed, ordering: .relaxed)
      guard arrival.mayCancel() else { return }
      if let home, home.cancels({ [self] in cancel() }) { return }
      guard let unconfined else { return cancelHere() }
      if !unconfined.touch(cancelHere) { unconfined.cancelUpstream() }
    }

    private func cancelHere() {
      guard let subscription = subscription.take() else { return }
      phase.store(Self.closed, ordering: .relaxed)
      subscription.cancel()
      releaseClosures()
    }

    /// True when an arriving event must be passed to the closures.
    @inlinable var takesEvents: Bool {
      @inline(__always) get { phase.load(ordering: .relaxed) == Self.open || begins() }
    }

    /// Returns true for the first event from an upstream that may deliver on any thread, unless the sink was cancelled
    /// before that event.
    @inline(never) @usableFromInline func begins() -> Bool {
      guard phase.load(ordering: .relaxed) == Self.beginning, let unconfined, unconfined.begin() else { return false }
      return phase.compareExchange(expected: Self.beginning, desired: Self.open, ordering: .relaxed).exchanged
    }

    /// True until the completion or the cancellation.
    fileprivate var isActive: Bool { phase.load(ordering: .relaxed) != Self.closed }

    /// Releases the closures. Call this last, because a released closure may call back into this sink, which must then
    /// be closed.
    private func releaseClosures() {
      onCompletion = nil
      onValue = nil
    }
  }
}

extension Subscribers.Sink: CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  public var description: String { "Sink" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
  public var playgroundDescription: Any { description }
}

extension Subscribers.Sink: LiveAnywhere {
  var mayReceive: Bool { isActive }
  @usableFromInline var isLive: Bool { isActive }
  @usableFromInline var hasArrived: Bool { arrival.hasArrived }
  @usableFromInline var lane: (any StreamLane)? { arrival.hasArrived ? home?.lane : nil }
  @usableFromInline var mayBeRead: Bool { unconfined?.mayBeRead ?? true }
  @usableFromInline var upstream: AnyObject? { (unconfined?.current ?? subscription).map { $0 as AnyObject } }
}

extension SubscriptionWatch {
  /// Subscribes a sink whose events show that it is in use. Not inlined, because a watched chain is never specialized.
  @inline(never) @usableFromInline
  func subscribe<Upstream: Publisher>(
    _ sink: Subscribers.Sink<Upstream.Output, Upstream.Failure>, to upstream: Upstream,
    _ receiveValue: @escaping (Upstream.Output) -> Void
  ) {
    if LiveMap.isOn { startCounting() }
    upstream.subscribe(WatchedSinkLink(link: SinkLink(sink, receiveValue), watch: self))
  }
}

/// Reports arriving events to the watch of a sink, on any thread.
private struct WatchedSinkLink<Input, Failure: Error>: Subscriber, CustomStringConvertible, LinkToEnd {
  let link: SinkLink<Input, Failure>
  let watch: SubscriptionWatch

  func receive(subscription: any Subscription) { link.receive(subscription: subscription) }

  func receive(_ value: Input) -> Subscribers.Demand {
    watch.somethingArrives()
    return link.receive(value)
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    watch.somethingArrives(isLast: true)
    link.receive(completion: completion)
  }

  var combineIdentifier: CombineIdentifier { link.combineIdentifier }
  var description: String { link.description }
}

/// The subscriber that `sink` attaches. It holds the value closure as a constant, because a closure in a variable would
/// be retained for each call.
@frozen @usableFromInline struct SinkLink<Input, Failure: Error>: Subscriber, CustomStringConvertible {
  @usableFromInline let sink: Subscribers.Sink<Input, Failure>
  @usableFromInline let receiveValue: (Input) -> Void

  @inlinable init(_ sink: Subscribers.Sink<Input, Failure>, _ receiveValue: @escaping (Input) -> Void) {
    self.sink = sink
    self.receiveValue = receiveValue
  }

  @inlinable func receive(subscription: any Subscription) { sink.receive(subscription: subscription) }

  @inlinable func receive(_ value: Input) -> Subscribers.Demand {
    if sink.takesEvents { receiveValue(value) }
    return .none
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) { sink.receive(completion: completion) }

  @usableFromInline var combineIdentifier: CombineIdentifier { sink.combineIdentifier }
  @usableFromInline var description: String { sink.description }
}

extension SinkLink: LinkToEnd {}
