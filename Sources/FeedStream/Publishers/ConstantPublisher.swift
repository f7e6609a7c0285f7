/// A publisher of at most one value, which is known when the publisher is made: ``Just``, `Optional.Publisher` and
/// `Result.Publisher`.
///
/// An operator applied to one is applied at once, when the chain is assembled, and makes another of its kind, as in
/// Combine: `Just(2).map { $0 * 2 }` is `Just(4)`. What is common to the three is here.
public protocol ConstantPublisher<Output, Failure>: Publisher {
  /// What it delivers: a value, nothing, or a failure.
  var constant: Result<Output?, Failure> { get }
}

// MARK: - Of one value: itself

extension ConstantPublisher {
  /// As `first()` of any publisher, applied at once.
  @inlinable public func first() -> Self { self }

  /// As `last()` of any publisher, applied at once.
  @inlinable public func last() -> Self { self }

  /// As `min(by:)` of any publisher, applied at once.
  @inlinable public func min(by areInIncreasingOrder: (Output, Output) -> Bool) -> Self { self }

  /// As `max(by:)` of any publisher, applied at once.
  @inlinable public func max(by areInIncreasingOrder: (Output, Output) -> Bool) -> Self { self }

  /// As `removeDuplicates(by:)` of any publisher, applied at once.
  @inlinable public func removeDuplicates(by predicate: (Output, Output) -> Bool) -> Self { self }

  /// As `retry(_:)` of any publisher, applied at once: it would fail again in the same way.
  @inlinable public func retry(_ retries: Int) -> Self { self }

  /// As `ignoreOutput()` of any publisher, applied at once; but as in Combine, a failure is left out with the value.
  @inlinable public func ignoreOutput() -> Empty<Output, Failure> { Empty() }
}

extension ConstantPublisher where Output: Comparable {
  /// As `min()` of any publisher, applied at once.
  @inlinable public func min() -> Self { self }

  /// As `max()` of any publisher, applied at once.
  @inlinable public func max() -> Self { self }
}

extension ConstantPublisher where Output: Equatable {
  /// As `removeDuplicates()` of any publisher, applied at once.
  @inlinable public func removeDuplicates() -> Self { self }
}

// MARK: - The value, or nothing

extension ConstantPublisher where Failure == Never {
  /// The value if `isKept` says so.
  @inlinable
  func kept(if isKept: (Output) -> Bool) -> Optional<Output>.Publisher { compactMap { isKept($0) ? $0 : nil } }

  /// As `compactMap(_:)` of any publisher, applied at once.
  @inlinable public func compactMap<T>(_ transform: (Output) -> T?) -> Optional<T>.Publisher {
    Optional.Publisher(constant.get().flatMap(transform))
  }

  /// As `filter(_:)` of any publisher, applied at once.
  @inlinable public func filter(_ isIncluded: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: isIncluded) }

  /// As `first(where:)` of any publisher, applied at once.
  @inlinable public func first(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// As `last(where:)` of any publisher, applied at once.
  @inlinable public func last(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// As `prefix(while:)` of any publisher, applied at once.
  @inlinable public func prefix(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// As `drop(while:)` of any publisher, applied at once.
  @inlinable
  public func drop(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept { !predicate($0) } }

  /// As `prefix(_:)` of any publisher, applied at once.
  @inlinable public func prefix(_ maxLength: Int) -> Optional<Output>.Publisher {
    precondition(maxLength >= 0, "prefix(\(maxLength)): a number of values cannot be negative; use 0 or more")
    return kept { _ in maxLength > 0 }
  }

  /// As `dropFirst(_:)` of any publisher, applied at once.
  @inlinable public func dropFirst(_ count: Int = 1) -> Optional<Output>.Publisher {
    precondition(count >= 0, "dropFirst(\(count)): a number of values cannot be negative; use 0 or more")
    return kept { _ in count == 0 }
  }

  /// As `output(at:)` of any publisher, applied at once.
  @inlinable public func output(at index: Int) -> Optional<Output>.Publisher {
    precondition(index >= 0, "output(at: \(index)): a place in a stream cannot be negative; use 0 or more")
    return kept { _ in index == 0 }
  }
}
