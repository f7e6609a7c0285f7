/// One subscriber's subscription to a subject.
@usableFromInline final class Conduit: GuardedSubscription {
  private let name: StaticString
  @exclusivity(unchecked) private var ledger: AnySubjectEntry?
  // Retained until the completion, so that a subscription keeps the subject and its list alive.
  @exclusivity(unchecked) private var subject: AnyObject?
  @exclusivity(unchecked) private var onRequest: ((AnySubjectEntry) -> Void)?
  @exclusivity(unchecked) private var demandAtEnd = Subscribers.Demand.none
  /// True when everything has been requested.
  @exclusivity(unchecked) private var isUnlimited = false

  @usableFromInline init(
    _ name: StaticString, _ ledger: AnySubjectEntry, _ subject: AnyObject, onRequest: ((AnySubjectEntry) -> Void)?
  ) {
    self.name = name
    self.ledger = ledger
    self.subject = subject
    self.onRequest = onRequest
    super.init()
    ledger.conduit = self
    if !ledger.list.watchers.isEmpty { ledger.list.tellWatchers() }
  }

  deinit { ledger?.conduit = nil }

  override func joined(by gate: any EntryGate) {
    guard let ledger, ledger.path == nil, let gate = gate as? ThreadGate else { return }
    ledger.path = .passRetained(GatePath(gate, of: self))
    ledger.conduit = nil
    // The path takes requests and the cancellation from any thread.
    confinement = .anywhere
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard let ledger else { return }
    if let path = ledger.path?.takeUnretainedValue() {
      if !path.isHere, requests(demand, of: ledger, path) { return }
    } else {
      ledger.list.confinement.checkRequest(name, madeAt: ledger.list.madeAt, byJoin: false)
    }
    isUnlimited = isUnlimited || demand == .unlimited
    ledger.demand += demand
    if !ledger.list.upstreams.isWanted {
      // A value that upstream delivers immediately may end this subscription, and release the subject.
      withExtendedLifetime(subject) { ledger.list.upstreams.want() }
    }
    onRequest?(ledger)
    // A value delivered by `onRequest` may have ended this subscription, and released the subject.
    if let ledger = self.ledger, !ledger.list.watchers.isEmpty { ledger.list.tellWatchers() }
  }

  /// Handles a request on a thread other than the one that subscribed.
  ///
  /// - Returns: false if the subject has moved to this thread, so that the request can take effect here.
  private func requests(_ demand: Subscribers.Demand, of ledger: AnySubjectEntry, _ path: GatePath) -> Bool {
    guard !isUnlimited else { return true }
    // Only the subject's thread can deliver a kept value, or start a publisher that feeds the subject.
    guard onRequest == nil, ledger.list.upstreams.isReady else {
      ledger.list.confinement.checkRequest(name, madeAt: ledger.list.madeAt, byJoin: true)
      return false
    }
    isUnlimited = demand == .unlimited
    path.request(demand)
    return true
  }

  override func cancelled() {
    guard let (ledger, subject) = release(), ledger.path?.takeUnretainedValue().isCancelled != true else { return }
    withExtendedLifetime(subject) { ledger.list.remove(ledger) }
  }

  /// Releases the subject and the subscriber: nothing more is delivered through this conduit.
  ///
  /// - Returns: the released objects, or `nil` if they were released before.
  @usableFromInline @discardableResult func release() -> (AnySubjectEntry, AnyObject?)? {
    guard let ledger = ledger.take() else { return nil }
    onRequest = nil
    if let path = ledger.path?.takeUnretainedValue(), !path.release() { return (ledger, subject.take()) }
    demandAtEnd = ledger.demand
    ledger.demand = .none
    ledger.isActive = false
    ledger.conduit = nil
    return (ledger, subject.take())
  }

  override func tell(_ facts: inout StreamFacts) {
    guard let ledger else {
      facts.isOver = true
      return
    }
    // Without a line, the place is only the subject's name.
    facts.place = ledger.list.madeAt.flatMap { $0.line == 0 ? nil : "\($0)" }
    facts.below = ledger.subscriber
    facts.delivered = ledger.tally
    facts.demand = ledger.demand
    facts.upstreams = ledger.list.upstreams.live
    facts.waitsForTime = ledger.list.isTicking == true
    if ledger.list.isTicking == false { facts.reason = StreamFacts.notConnected }
  }

  override var description: String { "\(name)" }
  override var customMirror: Mirror {
    mirror([
      "parent": subject as Any, "downstream": ledger?.subscriber as Any, "demand": ledger?.demand ?? demandAtEnd,
      "subject": subject as Any,
    ])
  }
}

extension Conduit {
  /// True while the subscription is live and no live publisher feeds the subject.
  var isUnfed: Bool { ledger?.list.upstreams.live.isEmpty ?? false }

  /// The subscriber, until the subscription ends.
  @usableFromInline var subscriber: Any { ledger?.subscriber ?? () }
}

/// Requests everything from the publishers that feed a subject, once a subscriber requests anything from the subject,
/// or immediately if the subject is a `CurrentValueSubject`.
@usableFromInline final class UpstreamDemand {
  fileprivate var upstreams: [any Subscription] = []
  fileprivate var isWanted = false
  /// The number of upstreams at which finished ones are removed, so that connecting repeatedly doesn't leak memory.
  private var sweepCount = 32

  @usableFromInline init() {}

  deinit { cancel() }

  /// The upstreams that are not known to be over.
  fileprivate var live: [any Subscription] { upstreams.filter { !(($0 as? any FiniteSubscription)?.isOver ?? false) } }

  /// True if a request needn't start a publisher.
  fileprivate var isReady: Bool { isWanted || upstreams.isEmpty }

  /// Cancels the upstreams. Called before the subject is deallocated, because upstreams can reach it until they are
  /// cancelled.
  @usableFromInline func cancel() {
    // Another thread may release a subject that is over, or a property's owner. With nothing to cancel, write nothing.
    guard !upstreams.isEmpty else { return }
    let live = self.live
    upstreams.removeAll()
    for upstream in live { upstream.cancel() }
  }

  @usableFromInline func add(_ upstream: any Subscription) {
    if upstreams.count >= sweepCount {
      upstreams.removeAll { ($0 as? any FiniteSubscription)?.isOver ?? false }
      sweepCount = max(32, upstreams.count * 2)
    }
    upstreams.append(upstream)
    if isWanted { upstream.request(.unlimited) }
  }

  @usableFromInline func want() {
    guard !isWanted else { return }
    isWanted = true
    for upstream in upstreams { upstream.request(.unlimited) }
  }
}

extension Conduit: Traceable {
  @usableFromInline var below: Any { subscriber }
}
