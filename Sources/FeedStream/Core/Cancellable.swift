public import Synchronization

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
  /// Atomic, because two threads may cancel at the same time.
  @usableFromInline let isCancelled = Atomic(false)
  /// Detects a premature release of this object; `nil` while warnings are off.
  @usableFromInline let watch: SubscriptionWatch?

  /// Makes an object that runs `cancel` once: when the object is cancelled or released, whichever happens first.
  @inlinable public convenience init(_ cancel: @escaping () -> Void) { self.init(cancel, nil) }

  /// Makes an object that cancels `canceller` once: when the object is cancelled or released, whichever happens first.
  @inlinable public convenience init<C: Cancellable>(_ canceller: C) { self.init({ canceller.cancel() }, nil) }

  /// Makes an object that cancels a subscription that has just been made; `watch` detects a premature release.
  @inlinable convenience init<C: Cancellable & LiveSubscriber>(_ canceller: C, _ watch: SubscriptionWatch?) {
    self.init({ canceller.cancel() }, watch)
    watch?.made(canceller)
  }

  // Not inlinable: if an optimized program can see the allocation of an object that it releases right away, the Swift
  // 6.3 compiler removes the allocation, but not the deallocation.
  @inline(never) @usableFromInline init(_ action: @escaping () -> Void, _ watch: SubscriptionWatch?) {
    self.action = action
    self.watch = watch
  }

  deinit {
    guard let action else { return }
    watch?.released()
    run(action)
  }

  public func cancel() {
    // The first call takes the action, which may call `cancel()` again.
    if !isCancelled.exchange(true, ordering: .relaxed), let action = action.take() { run(action) }
  }

  private func run(_ action: () -> Void) {
    if let watch { watch.cancelling(action) } else { action() }
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
