import FeedStream

/// A subscriber that records everything it receives, with the virtual time of each event, and keeps a ledger of the
/// demand.
///
/// A value that was not requested, or any other violation of the rules (`CONTRACT.md`), fails the test immediately,
/// once per rule, on the line where the recorder was made.
///
///     let recorder = subject.map { $0 * 2 }.record(on: time, demand: .oneByOne)
///
/// A recorder without `on:` has a time of its own, which doesn't advance, and `withVirtualTime` doesn't check it for
/// leftovers. An event that arrives as a scheduler other than the recorder's advances fails the test, because the
/// recorder couldn't tell the event's time. Below operators that move the stream to a `VirtualLoop` or a queue, such an
/// event may go unnoticed.
public final class Recorder<Input, Failure: Error>: Subscriber, Cancellable {
  public typealias Event = StreamEvent<Input, Failure>

  let time: VirtualTimeScheduler
  let site: CallSite
  private let script: DemandScript
  private var subscription: (any Subscription)?
  private var isCancelled = false
  private var received: [Timed<Event>] = []
  /// Called with each value after it is recorded, until the stream is over; use it to send, request or cancel during a
  /// delivery.
  ///
  ///     recorder.onValue = { if $0 == 1 { subject.send(2) } }
  public var onValue: ((Input) -> Void)?
  /// Called for each violation, with the rule's number, instead of failing the test.
  var onViolation: ((_ rule: Int, _ message: String) -> Void)?
  /// Called in each callback, after the event has been recorded; after the completion, the subscription is `nil`.
  var onCallback: (() -> Void)?
  /// True to request and cancel after the completion, if `onCallback` is set.
  var actsAfterCompletion = true
  /// True to make the recorder call `request` in the callback instead of returning demand.
  var answersByRequest = false

  /// The ledger of demand: each request, each returned demand, and each value.
  public private(set) var ledger = DemandLedger()
  /// The time at which the subscription arrived.
  public private(set) var subscribedAt: StreamInstant?
  /// The time at which ``cancel()`` was called.
  public private(set) var cancelledAt: StreamInstant?

  /// The number of events that the test has read. A test should read all events.
  private(set) var readCount = 0
  private(set) var auditEntry: Audit.Entry?
  /// The time of the other scheduler in which the subscription arrived, if any.
  private var otherSubscribedAt: StreamInstant?
  /// True when an event in another scheduler's time has been reported.
  private var hasReportedTime = false
  /// The rules whose violations have been reported.
  private var reported: Set<Int> = []
  /// True when a publisher has received the recorder, and owes it a subscription.
  private(set) var isAwaiting = false
  /// True when the test cancelled before a subscription arrived, although no pending work could deliver one.
  private(set) var isUnanswered = false
  /// True when the test has checked the events. It then relies on a subscription, even if it cancels.
  var isChecked = false
  /// True when a failed expectation has been reported.
  var isExcused = false
  /// True if the recorder is cancelled at the end of the test.
  var isCancelledAtEnd = false
  /// The time that counts as zero, if it isn't the time of the subscription.
  var origin: StreamInstant?
  /// Cancel the work that is scheduled for this recorder.
  private var revocations = FIFO<() -> Void>()

  public init(
    on time: VirtualTimeScheduler = VirtualTimeScheduler(), demand script: DemandScript = .unlimited,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.time = time
    self.script = script
    site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    CallSite.noteTest()
    for later in script.later where later.after.nanoseconds < 0 {
      site.fail(
        "This demand script requests values in the past, after \(later.after.nanoseconds.asTime); use zero or more")
    }
    auditEntry = time.audit.add(self, site)
  }

  deinit { auditEntry?.bequeath(isExcused ? nil : unreadLeftover ?? missingSubscription) }

  // MARK: Received events

  /// Every event with its time. Reading them counts as reading all events.
  public var events: [Timed<Event>] {
    isChecked = true
    readCount = received.count
    return received
  }

  /// The values. Reading them counts as reading all events.
  public var values: [Input] {
    events.compactMap { if case .value(let value) = $0.content { value } else { nil } }
  }

  /// The completion, if there is one. Reading it counts as reading all events.
  public var completion: Subscribers.Completion<Failure>? {
    for event in events { if case .completion(let completion) = event.content { return completion } }
    return nil
  }

  /// The failure, if there is one. Reading it counts as reading all events.
  public var failure: Failure? { if case .failure(let error) = completion { error } else { nil } }

  /// The first unread event.
  func readNext() -> Timed<Event>? {
    guard readCount < received.count else { return nil }
    defer { readCount += 1 }
    return received[readCount]
  }

  /// The unread events; they stay unread.
  var unreadEvents: ArraySlice<Timed<Event>> { received[readCount...] }
  private(set) var hasEnded = false
  /// The completion, which stays unread.
  var ending: Timed<Event>? { received.last { $0.content.isCompletion } }

  // MARK: Actions

  /// Subscribes to `publisher`, which must then deliver a subscription.
  func subscribe<P: Publisher>(to publisher: P) where P.Output == Input, P.Failure == Failure {
    isAwaiting = true
    publisher.subscribe(self)
  }

  /// Requests more values.
  public func request(_ demand: Subscribers.Demand) {
    guard let subscription else { return }
    ledger.ask(demand, at: time.now)
    subscription.request(demand)
  }

  /// Cancels the subscription; any event after that is a violation.
  ///
  /// To cancel only at the end of the test, use ``cancelledAtEnd()`` instead.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    cancelledAt = time.now
    revoke()
    isUnanswered = subscribedAt == nil && time.pending.isEmpty
    let subscription = self.subscription
    self.subscription = nil
    onValue = nil
    subscription?.cancel()
    guard onCallback != nil else { return }
    subscription?.cancel()
    subscription?.request(.max(1))
  }

  /// Schedules work that is cancelled when the stream is over.
  ///
  /// - Parameter place: a position among the work that is due at that time, if any.
  func schedule(at instant: StreamInstant, in place: UInt64? = nil, _ site: CallSite, _ action: @escaping () -> Void) {
    let work = time.agenda.add(at: instant, in: place, .line(site), action)
    // Weak, because the work may retain this recorder.
    revocations.append { [weak work, time] in if let work { time.agenda.cancel(work) } }
  }

  private func revoke() { while let revoke = revocations.popFirst() { revoke() } }

  var isLive: Bool { subscription != nil }
  var isOver: Bool { isCancelled || hasEnded }

  // MARK: Subscriber

  public func receive(subscription: any Subscription) {
    guard subscribedAt == nil else {
      violate(2, "a second subscription was passed on")
      return subscription.cancel()
    }
    subscribedAt = time.now
    otherSubscribedAt = otherTime?.now
    guard !isCancelled else { return subscription.cancel() }
    self.subscription = subscription
    for later in script.later {
      schedule(at: time.now.advanced(by: later.after), site) { [weak self] in self?.request(later.demand) }
    }
    if script.initial > .none { request(script.initial) }
    onCallback?()
  }

  public func receive(_ input: Input) -> Subscribers.Demand {
    checkDelivery(of: "the value \(input)")
    let valueIndex = ledger.used
    if !ledger.use(at: time.now) {
      violate(4, "the value \(input) was delivered without demand; \(ledger)")
    }
    received.append(Timed(.value(input), at: time.now))
    onValue?(input)
    onCallback?()
    let answer = isCancelled ? .none : script.answer(toValue: valueIndex)
    guard answer > .none else { return .none }
    guard !answersByRequest else {
      request(answer)
      return .none
    }
    ledger.answer(answer, at: time.now)
    return answer
  }

  public func receive(completion: Subscribers.Completion<Failure>) {
    checkDelivery(of: "the completion \(Event.completion(completion))")
    received.append(Timed(.completion(completion), at: time.now))
    hasEnded = true
    revoke()
    onValue = nil
    let subscription = self.subscription
    self.subscription = nil
    guard let onCallback else { return }
    onCallback()
    guard actsAfterCompletion else { return }
    // A subscriber may call these after the completion. Neither call may have an effect.
    subscription?.request(.max(1))
    subscription?.cancel()
  }

  /// The scheduler that is advancing, if it isn't the recorder's.
  private var otherTime: VirtualTimeScheduler? {
    guard let domain = CurrentDomain.get(), domain !== time else { return nil }
    let advancing = domain as? VirtualTimeScheduler ?? (domain as? VirtualLoop)?.time
    return advancing === time ? nil : advancing
  }

  /// Checks that the recorder's time is that of the event. The events of a stream that delivers everything on
  /// subscription need no time.
  private func checkTime() {
    guard !hasReportedTime, let other = otherTime, other.now != otherSubscribedAt else { return }
    hasReportedTime = true
    other.audit.noteFailure()
    isExcused = true
    guard other.audit.noteMistimed(site) else { return }
    fail(
      "An event arrived in the virtual time of another scheduler: pass that scheduler, as in record(on: time).", site)
  }

  private func checkDelivery(of what: @autoclosure () -> String) {
    checkTime()
    if subscribedAt == nil {
      violate(2, "\(what()) was delivered before a subscription")
    } else if hasEnded {
      violate(5, "\(what()) was delivered after the completion \(received.last.map { "\($0.content)" } ?? "")")
    } else if isCancelled {
      violate(6, "\(what()) was delivered after cancel() had returned")
    }
  }

  private func violate(_ rule: Int, _ message: String) {
    if let onViolation { return onViolation(rule, message) }
    guard reported.insert(rule).inserted else { return }
    site.fail("At \(time.now.nanoseconds.asTime) \(message) (CONTRACT, rule \(rule)).\(time.seedNote)")
  }
}

extension Publisher {
  /// Subscribes a ``Recorder``.
  public func record(
    on time: VirtualTimeScheduler = VirtualTimeScheduler(), demand: DemandScript = .unlimited,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Recorder<Output, Failure> {
    let recorder = Recorder<Output, Failure>(
      on: time, demand: demand, fileID: fileID, filePath: filePath, line: line, column: column)
    recorder.subscribe(to: self)
    return recorder
  }
}

extension Recorder: CustomStringConvertible {
  public var description: String { "Recorder" }
}
