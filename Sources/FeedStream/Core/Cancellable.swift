/// An activity that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity. Idempotent; after `cancel()` returns, nothing more is delivered.
  func cancel()
}

extension Cancellable {
  /// Adds this cancellable to `collection`, which then keeps it alive.
  public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
    AnyCancellable(self).store(in: &collection)
  }

  /// Adds this cancellable to `set`, which then keeps it alive.
  public func store(in set: inout Set<AnyCancellable>) {
    AnyCancellable(self).store(in: &set)
  }
}

/// A cancellable that cancels when it is released.
public final class AnyCancellable: Cancellable {
  @exclusivity(unchecked) @usableFromInline var action: (() -> Void)?
  /// Detects a premature release of this object; `nil` while warnings are off.
  @usableFromInline let watch: SubscriptionWatch?

  /// Runs `cancel` once: when cancelled, or when released before that.
  @inlinable public init(_ cancel: @escaping () -> Void) {
    action = cancel
    watch = nil
  }

  /// Cancels `canceller` once: when cancelled, or when released before that.
  @inlinable public init<C: Cancellable>(_ canceller: C) {
    action = { canceller.cancel() }
    watch = nil
  }

  /// Cancels a subscription that has just been made; `watch` detects a premature release.
  @inlinable init<C: Cancellable & LiveSubscriber>(_ canceller: C, _ watch: SubscriptionWatch?) {
    action = { canceller.cancel() }
    self.watch = watch
    watch?.made(canceller)
  }

  deinit {
    guard let action else { return }
    watch?.released()
    action()
  }

  public func cancel() {
    // Take the action first: it may call `cancel()` again.
    action.take()?()
  }

  public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
    collection.append(self)
  }

  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }
}

extension AnyCancellable: Hashable {
  public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool { lhs === rhs }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
