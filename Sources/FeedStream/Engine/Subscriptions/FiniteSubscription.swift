/// A subscription that reports whether anything can still arrive through it.
@usableFromInline protocol FiniteSubscription: Subscription {
  var isOver: Bool { get }
}
