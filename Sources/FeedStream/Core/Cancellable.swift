/// Something that can be stopped.
public protocol Cancellable {
  /// Stops it. Idempotent; after it returns, nothing more is delivered.
  func cancel()
}

extension Cancellable {
  /// Keeps this in `collection`, and with it whatever it keeps alive.
  public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
    AnyCancellable(self).store(in: &collection)
  }

  /// Keeps this in `set`.
  public func store(in set: inout Set<AnyCancellable>) {
    AnyCancellable(self).store(in: &set)
  }
}

/// A cancellable that cancels when it is released.
public final class AnyCancellable: Cancellable {
  @exclusivity(unchecked)
  private var canceller: (any Cancellable)?

  /// Runs `cancel` once: when cancelled, or when released before that.
  public init(_ cancel: @escaping () -> Void) { canceller = Action(run: cancel) }

  /// Cancels `canceller` once: when cancelled, or when released before that.
  public init<C: Cancellable>(_ canceller: C) { self.canceller = canceller }

  deinit { canceller?.cancel() }

  public func cancel() {
    // Taken out first: cancelling may come back here.
    let canceller = self.canceller
    self.canceller = nil
    canceller?.cancel()
  }

  private struct Action: Cancellable {
    let run: () -> Void
    func cancel() { run() }
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
