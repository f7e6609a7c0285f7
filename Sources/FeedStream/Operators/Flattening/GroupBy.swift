extension Publisher {
  /// Divides the stream by a key: for each key, delivers a publisher of the values with that key.
  ///
  ///     upstream    --1--2--3--4--|
  ///     groupBy { $0 % 2 }
  ///     downstream  --O--E--------|
  ///              O  --1-----3-----|
  ///              E  -----2-----4--|
  ///
  /// **Demand:** requests everything from upstream; a group waits until it is requested. **Failure:** fails the groups
  /// and the stream; groups that have not been requested are dropped and reported. When upstream finishes, so do the
  /// groups; the stream finishes after the waiting groups are delivered. **Cancellation:** cancelling a group ends it,
  /// and the next value with its key begins another; cancelling the stream is immediate, and the groups finish.
  /// **Policy:** a group holds its values without limit until it is subscribed to and the values are requested. Nothing
  /// is lost, so the values of a group without a subscriber accumulate: subscribe to every group.
  ///
  /// - Parameter key: returns the key of a value's group.
  @inlinable public func groupBy<Key: Hashable>(_ key: @escaping (Output) -> Key) -> Publishers.GroupBy<Self, Key> {
    Publishers.GroupBy(upstream: self, key: key)
  }
}

/// Delivers the values of a stream that share one key. A group serves one subscriber; use `share()` for more.
///
///     groupBy     --1--2--3--4--|
///     key 1       --1-----3-----|
///
/// **Demand:** the values wait for demand; the completion of a group with nothing left to deliver needs none.
/// **Failure:** the stream's failure passes through; values that have not been requested by then are dropped and
/// reported. **Cancellation:** ends this group; the next value with its key begins another. **Policy:** holds values
/// until they are requested, without limit.
public final class GroupedPublisher<Key: Hashable, Output, Failure: Error>: Publisher {
  public let key: Key
  @exclusivity(unchecked) @usableFromInline var early = FIFO<Output>()
  @exclusivity(unchecked) private var ending: Subscribers.Completion<Failure>?
  /// The buffer that receives the values. Released at the completion, because a subscriber may retain this group, and
  /// the buffer retains the subscriber.
  @exclusivity(unchecked) @usableFromInline var buffer: BufferStage<Output, Failure>?
  @usableFromInline var isTaken = false
  private var onCancel: (() -> Void)?

  /// The group's number; groups end in this order.
  fileprivate let number: Int
  /// The gate through which the stream's values arrive: another thread may subscribe to the group.
  @usableFromInline let gate: ThreadGate

  @usableFromInline init(_ key: Key, _ number: Int, _ gate: ThreadGate, onCancel: @escaping () -> Void) {
    self.key = key
    self.number = number
    self.gate = gate
    self.onCancel = onCancel
  }

  /// The number of values that wait because nobody has subscribed to this group.
  fileprivate var unheard: Int { isTaken ? 0 : early.count }

  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { gate.isHomeOfCaller }

  /// - Precondition: this group has had no subscriber.
  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscriber = ErasedSubscriber(subscriber)
    if gate.isHomeOfCaller { return attach(subscriber, GateMember(gate, isElsewhere: false)) }
    // The values may be arriving on another thread.
    let member = GateMember(gate, isElsewhere: true)
    member.run { [self] in attach(subscriber, member) }
  }

  @inlinable func attach(_ subscriber: ErasedSubscriber<Output, Failure>, _ member: GateMember) {
    precondition(!isTaken, "GroupedPublisher: a group serves one subscriber; use share() for several")
    isTaken = true
    let buffer = BufferStage<Output, Failure>(
      subscriber, .max, .byRequest, .dropNewest, gate: member, endingWaits: false, name: "GroupBy")
    self.buffer = buffer
    buffer.receive(subscription: CancellationSubscription { [self] in end() })
    // Don't loop over a copy, because a delivery may add values.
    while let value = early.popFirst() { _ = buffer.receive(value) }
    endBuffer()
  }

  @inlinable func send(_ value: Output) {
    if let buffer, early.isEmpty { _ = buffer.receive(value) } else { early.append(value) }
  }

  fileprivate func send(completion: Subscribers.Completion<Failure>) {
    discard(onCancel.take())
    ending = completion
    if early.isEmpty { endBuffer() }
  }

  @usableFromInline func endBuffer() {
    if let ending { buffer.take()?.receive(completion: ending) }
  }

  @usableFromInline func end() {
    early.removeAll()
    discard(buffer.take())
    onCancel.take()?()
  }
}

extension Publishers {
  /// See ``Publisher/groupBy(_:)``.
  public struct GroupBy<Upstream: Publisher, Key: Hashable>: Operator, _JoinsPublishers {
    public typealias Output = GroupedPublisher<Key, Upstream.Output, Upstream.Failure>

    public let upstream: Upstream
    public let key: (Upstream.Output) -> Key

    @inlinable public init(upstream: Upstream, key: @escaping (Upstream.Output) -> Key) {
      self.upstream = upstream
      self.key = key
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let gate = ThreadGate(following: .always)
      let stage = GroupByStage<Upstream.Output, Key, Failure>(ErasedSubscriber(subscriber), key, gate)
      upstream.receive(stage: stage, through: gate)
    }
  }
}

@usableFromInline
final class GroupByStage<Input, Key: Hashable, Failure: Error>:
  Stage<GroupedPublisher<Key, Input, Failure>, Failure>, Subscriber
{
  @usableFromInline typealias Group = GroupedPublisher<Key, Input, Failure>

  @usableFromInline let key: (Input) -> Key
  /// Admits one thread at a time to this stage and its groups, because other threads may subscribe to the groups.
  @usableFromInline let gate: ThreadGate
  @exclusivity(unchecked) @usableFromInline var groups: [Key: Group] = [:]
  /// The number of groups so far.
  @exclusivity(unchecked) @usableFromInline var count = 0
  /// The groups that have not been requested.
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Group>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// Upstream's completion, which may still have to be delivered.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var isDelivering = false

  @usableFromInline
  init(_ down: ErasedSubscriber<Group, Failure>, _ key: @escaping (Input) -> Key, _ gate: ThreadGate) {
    self.key = key
    self.gate = gate
    super.init(down)
    joint = GateMember(gate, isElsewhere: false)
  }

  @usableFromInline override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, ending == nil else { return .none }
    let key = self.key(input)
    if let group = groups[key] {
      group.send(input)
    } else {
      count += 1
      let group = Group(key, count, gate) { [weak self] in self?.groups[key] = nil }
      groups[key] = group
      // Send the value before delivering the group, so that the group already has its first value.
      group.send(input)
      waiting.append(group)
      deliver()
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, ending == nil else { return }
    ending = completion
    discard(up.take())
    endGroups(completion)
    deliver()
  }

  private func endGroups(_ completion: Subscribers.Completion<Failure>) {
    let groups = self.groups.values.sorted { $0.number < $1.number }
    self.groups = [:]
    for group in groups { group.send(completion: completion) }
  }

  @usableFromInline func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none, let group = waiting.popFirst() {
      demand.takeOne()
      demand += down.receive(group)
    }
    isDelivering = false
    guard isLive, let ending else { return }
    // Groups that have not been requested do not delay a failure.
    if case .failure = ending {
      while let group = waiting.popFirst() {
        StreamDiagnostics.dropped(group, "GroupBy", .noDemand, atFailure: true)
      }
    }
    if waiting.isEmpty { finish(ending) }
  }

  @usableFromInline override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    deliver()
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = waiting.count
    let unheard = groups.values.map(\.unheard).filter { $0 > 0 }
    guard waiting.isEmpty, !unheard.isEmpty else { return }
    facts.heldForNobody = """
      holds \(unheard.reduce(0, +)) values in groups that nobody has subscribed to (\(unheard.count) of \(groups.count)); \
      subscribe to every group
      """
  }

  @usableFromInline override func cancelled() {
    super.cancelled()
    waiting.removeAll()
    endGroups(.finished)
  }
}
