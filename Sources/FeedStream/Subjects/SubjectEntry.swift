/// A subscriber in a subject's list. Its methods are constants, so a call needn't retain them. At the completion, the
/// list and the conduit release the entry, and the subscriber with it.
@usableFromInline class SubjectEntry<Output, Failure: Error>: AnySubjectEntry {
  @usableFromInline final let methods: SubscriberMethods<Output, Failure>
  /// The object that is passed to the methods: the subscriber or its holder. The holder is this entry, or this entry
  /// retains it.
  @exclusivity(unchecked) @usableFromInline final var holder: Unmanaged<AnyObject>

  @inlinable init(_ methods: SubscriberMethods<Output, Failure>, _ holder: AnyObject?, on list: AnySubscriberList) {
    self.methods = methods
    self.holder = .passUnretained(holder ?? list)
    super.init(on: list)
    if holder == nil { self.holder = .passUnretained(self) }
  }

  /// Delivers a value; the demand has already been reduced by one for it.
  @inlinable @inline(__always) final func deliver(_ input: Output) {
    guard path == nil else { return deliverThroughGate(input) }
    let more = pass(input)
    if more > .none, isActive { demand += more }
  }

  @inlinable @inline(__always) final func pass(_ input: Output) -> Subscribers.Demand {
    holder._withUnsafeGuaranteedRef { methods.next($0, input) }
  }

  @inlinable @inline(never) final func deliverThroughGate(_ input: Output) {
    path.unsafelyUnwrapped._withUnsafeGuaranteedRef { path in
      if path.isCancelled { return leave() }
      guard path.entry.enter() else { return bring(input, through: path) }
      let more = pass(input)
      path.entry.leave()
      if more > .none, isActive { demand += more }
    }
  }

  @inline(never) @usableFromInline final func bring(_ input: Output, through path: GatePath) {
    path.gate.perform { [self] in
      // Without a conduit, the subscription was cancelled while the value was waiting.
      guard path.conduit != nil else { return }
      let more = pass(input)
      if more > .none { path.conduit?.request(more) }
    }
  }

  @usableFromInline override final var tally: Tally? { holder.takeUnretainedValue() as? Tally }

  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard path == nil else { return endThroughGate(completion) }
    holder._withUnsafeGuaranteedRef { methods.end($0, completion) }
  }

  @usableFromInline final func endThroughGate(_ completion: Subscribers.Completion<Failure>) {
    guard let path = path?.takeUnretainedValue() else { return }
    path.gate.run { [self] in
      guard !path.isCancelled else { return }
      path.conduit?.release()
      holder._withUnsafeGuaranteedRef { methods.end($0, completion) }
    }
  }
}

/// An entry that contains its subscriber, so that the subscriber needs no object of its own.
@usableFromInline final class SubjectEntryHolding<S: Subscriber>: SubjectEntry<S.Input, S.Failure>, SubscriberHolding {
  @usableFromInline let target: S

  @inlinable init(_ subscriber: S, on list: AnySubscriberList) {
    target = subscriber
    // In specialized code, the compiler evaluates these conditions.
    if let erased = subscriber as? ErasedSubscriber<S.Input, S.Failure> {
      super.init(erased.methods, erased.holder, on: list)
    } else if S.self is AnyObject.Type {
      super.init(SubscriberMethods(ofObject: S.self), unsafeBitCast(subscriber, to: AnyObject.self), on: list)
    } else {
      super.init(SubscriberMethods(of: SubjectEntryHolding<S>.self), nil, on: list)
    }
  }

  override var subscriber: Any { (target as? ErasedSubscriber<S.Input, S.Failure>)?.subscriber ?? target }
}
