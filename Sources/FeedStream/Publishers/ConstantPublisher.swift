/// A publisher of at most one value, which is known when the publisher is made: ``Just``, `Optional.Publisher` and
/// `Result.Publisher`.
///
/// An operator on such a publisher is applied immediately, when the chain is assembled, and returns a publisher of the
/// same kind, as in Combine: `Just(2).map { $0 * 2 }` is `Just(4)`. This protocol provides the operators that the three
/// share.
public protocol ConstantPublisher<Output, Failure>: Publisher {
  /// The value that the publisher delivers, `nil` if it delivers none, or its failure.
  var constant: Result<Output?, Failure> { get }
}

// MARK: - Operators that leave a single value as it is

extension ConstantPublisher {
  /// Like `first()` on other publishers, but applied immediately.
  @inlinable public func first() -> Self { self }

  /// Like `last()` on other publishers, but applied immediately.
  @inlinable public func last() -> Self { self }

  /// Like `min(by:)` on other publishers, but applied immediately.
  @inlinable public func min(by areInIncreasingOrder: (Output, Output) -> Bool) -> Self { self }

  /// Like `max(by:)` on other publishers, but applied immediately.
  @inlinable public func max(by areInIncreasingOrder: (Output, Output) -> Bool) -> Self { self }

  /// Like `removeDuplicates(by:)` on other publishers, but applied immediately.
  @inlinable public func removeDuplicates(by predicate: (Output, Output) -> Bool) -> Self { self }

  /// Like `retry(_:)` on other publishers, but applied immediately: a retry would fail in the same way.
  @inlinable public func retry(_ retries: Int) -> Self { self }

  /// Like `ignoreOutput()` on other publishers, but applied immediately. As in Combine, it drops a failure as well as
  /// the value.
  @inlinable public func ignoreOutput() -> Empty<Output, Failure> { Empty() }
}

extension ConstantPublisher where Output: Comparable {
  /// Like `min()` on other publishers, but applied immediately.
  @inlinable public func min() -> Self { self }

  /// Like `max()` on other publishers, but applied immediately.
  @inlinable public func max() -> Self { self }
}

extension ConstantPublisher where Output: Equatable {
  /// Like `removeDuplicates()` on other publishers, but applied immediately.
  @inlinable public func removeDuplicates() -> Self { self }
}

// MARK: - The value, or nothing

extension ConstantPublisher where Failure == Never {
  /// The value if `isKept` returns true for it.
  @inlinable
  func kept(if isKept: (Output) -> Bool) -> Optional<Output>.Publisher { compactMap { isKept($0) ? $0 : nil } }

  /// Like `compactMap(_:)` on other publishers, but applied immediately.
  @inlinable public func compactMap<T>(_ transform: (Output) -> T?) -> Optional<T>.Publisher {
    Optional.Publisher(constant.get().flatMap(transform))
  }

  /// Like `filter(_:)` on other publishers, but applied immediately.
  @inlinable public func filter(_ isIncluded: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: isIncluded) }

  /// Like `first(where:)` on other publishers, but applied immediately.
  @inlinable public func first(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// Like `last(where:)` on other publishers, but applied immediately.
  @inlinable public func last(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// Like `prefix(while:)` on other publishers, but applied immediately.
  @inlinable public func prefix(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept(if: predicate) }

  /// Like `drop(while:)` on other publishers, but applied immediately.
  @inlinable
  public func drop(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher { kept { !predicate($0) } }

  /// Like `prefix(_:)` on other publishers, but applied immediately.
  @inlinable public func prefix(_ maxLength: Int) -> Optional<Output>.Publisher {
    precondition(maxLength >= 0, "prefix(\(maxLength)): the number of values cannot be negative; use 0 or more")
    return kept { _ in maxLength > 0 }
  }

  /// Like `dropFirst(_:)` on other publishers, but applied immediately.
  @inlinable public func dropFirst(_ count: Int = 1) -> Optional<Output>.Publisher {
    precondition(count >= 0, "dropFirst(\(count)): the number of values cannot be negative; use 0 or more")
    return kept { _ in count == 0 }
  }

  /// Like `output(at:)` on other publishers, but applied immediately.
  @inlinable public func output(at index: Int) -> Optional<Output>.Publisher {
    precondition(index >= 0, "output(at: \(index)): an index cannot be negative; use 0 or more")
    return kept { _ in index == 0 }
  }
}
