/// What a stage needs to know of a lane.
@usableFromInline class AnyLane {
  @exclusivity(unchecked) @usableFromInline final var up: (any Subscription)?
  /// Whether values may come: subscribed, and not over.
  @exclusivity(unchecked) @usableFromInline final var isLive = false
  @exclusivity(unchecked) final var isEnded = false
  @exclusivity(unchecked) @usableFromInline final var isVacant = true

  @inlinable init() {}

  /// Reports what it keeps and will not give.
  func dropRest() {}

  /// Takes no more, and returns the subscription it had.
  func close() -> (any Subscription)? {
    defer { letGo() }
    return up
  }

  final func letGo() {
    up = nil
    isLive = false
    isEnded = true
  }
}

/// The subscription to one upstream, and its values.
@usableFromInline final class Lane<Value, Output, Failure: Error>: AnyLane, Subscriber, CustomStringConvertible {
  @usableFromInline let stage: LaneStage<Output, Failure>
  @exclusivity(unchecked) @usableFromInline var values = FIFO<Value>()

  @inlinable init(_ stage: LaneStage<Output, Failure>) { self.stage = stage }

  @usableFromInline func receive(subscription: any Subscription) {
    guard !isLive, !isEnded else { return subscription.cancel() }
    up = subscription
    isLive = true
    stage.began(self)
  }

  @inlinable func receive(_ input: Value) -> Subscribers.Demand {
    guard isLive else { return .none }
    if stage.rule == .latest, !values.isEmpty { values[0] = input } else { values.append(input) }
    return stage.received(self)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive else { return }
    letGo()
    stage.ended(completion)
  }

  /// What this lane contributes; there is something.
  @inlinable func take() -> Value {
    guard stage.rule == .all else { return values[0] }
    let value = values.popFirst()!
    isVacant = values.isEmpty
    return value
  }

  override func dropRest() {
    while let value = values.popFirst() { StreamDiagnostics.dropped(value, "Zip", .terminated) }
  }

  override func close() -> (any Subscription)? {
    values.removeAll()
    return super.close()
  }

  @usableFromInline var description: String { stage.description }
}
