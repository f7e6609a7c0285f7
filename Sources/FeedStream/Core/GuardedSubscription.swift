/// The root of every subscription of this library: the one gate for requests and cancellation.
///
/// `request(_:)` and `cancel()` are final. They check that the stream is touched on its own thread and that something is
/// asked for (`CONTRACT.md`, rules 1 and 3), and no subclass can leave that out; it says what a request means and what
/// there is to cancel.
@usableFromInline
class GuardedSubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable
{
  @exclusivity(unchecked) @usableFromInline final var confinement = Confinement()

  @inlinable init() {}

  // MARK: What a subclass says

  /// The subscriber asks for this much more.
  @usableFromInline func requested(_ demand: Subscribers.Demand) {}

  /// The subscriber wants nothing more.
  @usableFromInline func cancelled() {}

  /// True when a request for nothing does not trap: it is passed on to the publisher that serves it, or ignored, as in
  /// Combine.
  @usableFromInline var takesNone: Bool { false }

  // MARK: The subscriber's side

  @usableFromInline final func request(_ demand: Subscribers.Demand) {
    confinement.check(self)
    if demand == .none, !takesNone { demand.assertPositive(self) }
    requested(demand)
  }

  @usableFromInline final func cancel() {
    confinement.check(self)
    cancelled()
  }

  // MARK: What a person sees

  @usableFromInline var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
  @usableFromInline var description: String { operatorName(of: type(of: self)) }
  @usableFromInline final var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// The operator's name: "DropWhileStage<Int, Never>" is "DropWhile" to its readers.
@usableFromInline func operatorName(of type: Any.Type) -> String {
  let name = String(describing: type).prefix { $0 != "<" }
  return name.hasSuffix("Stage") ? String(name.dropLast(5)) : String(name)
}
