/// An inlet with a queue: a ``LaneStage``'s subscription to one upstream, and the values that wait for their partners.
@usableFromInline final class Lane<Value, Output, Failure: Error>: Inlet<LanePort<Value, Output, Failure>> {
  @exclusivity(unchecked) @usableFromInline var values = FIFO<Value>()

  /// Takes the value that this lane contributes to a combination. The lane must have a value.
  @inlinable func take() -> Value {
    guard owner.rule == .pairing else { return values[0] }
    let value = values.removeFirst()
    if values.isEmpty { owner.emptied(self) }
    return value
  }

  override var held: Int { values.count }

  override func drop(reporting: Bool) {
    while reporting, let value = values.popFirst() { StreamDiagnostics.dropped(value, owner.name, .terminated) }
    values.removeAll()
  }
}

@usableFromInline enum LanePort<Input, Output, Failure: Error>: Port {
  @usableFromInline typealias Owner = LaneStage<Output, Failure>

  @inlinable static func lane(_ inlet: Inlet<Self>) -> Lane<Input, Output, Failure> {
    // Safe because all inlets of a `LaneStage` are lanes.
    unsafeDowncast(inlet, to: Lane<Input, Output, Failure>.self)
  }

  @usableFromInline static func began(_ inlet: Inlet<Self>) {
    if inlet.owner.demand > .none { inlet.request(inlet.owner.demand) }
  }
  @inlinable static func receive(_ input: Input, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    let lane = lane(inlet)
    if lane.values.isEmpty {
      inlet.owner.vacant &-= 1
      lane.values.append(input)
    } else if inlet.owner.rule == .latest {
      let old = exchange(&lane.values.first, with: input)
      let more = inlet.owner.received(inlet)
      discard(old)
      return more
    } else {
      lane.values.append(input)
    }
    return inlet.owner.received(inlet)
  }
  @usableFromInline static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion, inlet)
  }
}
