// Operators that are applied to the sequence immediately, when the chain is assembled, as in Combine:
// `[1, 2].publisher.map { $0 * 2 }` is `[2, 4].publisher`.

// MARK: - Operators that return a sequence

extension Publishers.Sequence {
  /// Like `map(_:)` on other publishers, but applied immediately.
  @inlinable public func map<T>(_ transform: (Elements.Element) -> T) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.map(transform))
  }
  /// Like `compactMap(_:)` on other publishers, but applied immediately.
  @inlinable public func compactMap<T>(_ transform: (Elements.Element) -> T?) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.compactMap(transform))
  }
  /// Like `replaceNil(with:)` on other publishers, but applied immediately.
  @inlinable
  public func replaceNil<T>(with output: T) -> Publishers.Sequence<[T], Failure> where Elements.Element == T? {
    map { $0 ?? output }
  }
  /// Like `filter(_:)` on other publishers, but applied immediately.
  @inlinable public func filter(
    _ isIncluded: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.filter(isIncluded))
  }
  /// Like `scan(_:_:)` on other publishers, but applied immediately.
  @inlinable public func scan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Publishers.Sequence<[T], Failure> {
    var result = initialResult
    return map { element in
      result = nextPartialResult(result, element)
      return result
    }
  }
  /// Like `drop(while:)` on other publishers, but applied immediately.
  @inlinable public func drop(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<DropWhileSequence<Elements>, Failure> {
    .init(sequence: sequence.drop(while: predicate))
  }
  /// Like `dropFirst(_:)` on other publishers, but applied immediately.
  @inlinable public func dropFirst(_ count: Int = 1) -> Publishers.Sequence<DropFirstSequence<Elements>, Failure> {
    precondition(count >= 0, "dropFirst(\(count)): the number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.dropFirst(count))
  }
  /// Like `prefix(_:)` on other publishers, but applied immediately.
  @inlinable public func prefix(_ maxLength: Int) -> Publishers.Sequence<PrefixSequence<Elements>, Failure> {
    precondition(maxLength >= 0, "prefix(\(maxLength)): the number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.prefix(maxLength))
  }
  /// Like `prefix(while:)` on other publishers, but applied immediately.
  @inlinable public func prefix(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.prefix(while: predicate))
  }
  /// Like `setFailureType(to:)` on other publishers, but applied immediately.
  @inlinable public func setFailureType<E: Error>(to failureType: E.Type) -> Publishers.Sequence<Elements, E> {
    .init(sequence: sequence)
  }
  /// Like `ignoreOutput()` on other publishers, but applied immediately.
  @inlinable public func ignoreOutput() -> Empty<Elements.Element, Failure> { Empty() }
}

extension Publishers.Sequence where Elements.Element: Equatable {
  /// Like `removeDuplicates()` on other publishers, but applied immediately.
  @inlinable public func removeDuplicates() -> Publishers.Sequence<[Elements.Element], Failure> {
    var last: Elements.Element?
    return filter { element in
      defer { last = element }
      return element != last
    }
  }
}

extension Publishers.Sequence where Elements: RangeReplaceableCollection {
  /// Like `prepend(_:)` on other publishers, but applied immediately.
  @inlinable
  public func prepend(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { prepend(elements) }
  /// Like `prepend(_:)` on other publishers, but applied immediately.
  @inlinable public func prepend<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = Elements()
    joined.reserveCapacity(sequence.count + elements.underestimatedCount)
    joined.append(contentsOf: elements)
    joined.append(contentsOf: sequence)
    return .init(sequence: joined)
  }
  /// Like `prepend(_:)` on other publishers, but applied immediately.
  @inlinable
  public func prepend(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    publisher.append(sequence)
  }
  /// Like `append(_:)` on other publishers, but applied immediately.
  @inlinable
  public func append(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { append(elements) }
  /// Like `append(_:)` on other publishers, but applied immediately.
  @inlinable public func append<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = sequence
    joined.append(contentsOf: elements)
    return .init(sequence: joined)
  }
  /// Like `append(_:)` on other publishers, but applied immediately.
  @inlinable
  public func append(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    append(publisher.sequence)
  }
}

extension Publishers.Sequence where Elements: Collection {
  /// Like `output(in:)` on other publishers, but applied immediately, with the collection's indices; all must be valid.
  @inlinable public func output(in range: Range<Elements.Index>) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: Array(sequence[range]))
  }
}

// MARK: - One value

extension Publishers.Sequence {
  /// Like `collect()` on other publishers, but applied immediately.
  @inlinable public func collect() -> Result<[Elements.Element], Failure>.Publisher { .init(Array(sequence)) }
  /// Like `allSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable public func allSatisfy(_ predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.allSatisfy(predicate))
  }
  /// Like `tryAllSatisfy(_:)` on other publishers, but applied immediately.
  @inlinable public func tryAllSatisfy(
    _ predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.allSatisfy(predicate) })
  }
  /// Like `contains(where:)` on other publishers, but applied immediately.
  @inlinable public func contains(where predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.contains(where: predicate))
  }
  /// Like `tryContains(where:)` on other publishers, but applied immediately.
  @inlinable public func tryContains(
    where predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.contains(where: predicate) })
  }
  /// Like `contains(_:)` on other publishers, but applied immediately.
  @inlinable public func contains(
    _ output: Elements.Element
  ) -> Result<Bool, Failure>.Publisher where Elements.Element: Equatable {
    .init(sequence.contains(output))
  }
  /// Like `reduce(_:_:)` on other publishers, but applied immediately.
  @inlinable public func reduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Result<T, Failure>.Publisher {
    .init(sequence.reduce(initialResult, nextPartialResult))
  }
  /// Like `tryReduce(_:_:)` on other publishers, but applied immediately.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) throws -> T
  ) -> Result<T, any Error>.Publisher {
    .init(Result { try sequence.reduce(initialResult, nextPartialResult) })
  }
}

extension Publishers.Sequence where Elements: Collection {
  /// Like `count()` on other publishers, but applied immediately.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
}

// If the publisher cannot fail, `count()` returns a `Just`. The constraint to random-access collections keeps these
// overloads from being ambiguous with the one above.
extension Publishers.Sequence where Elements: RandomAccessCollection {
  /// Like `count()` on other publishers, but applied immediately.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
  /// Like `count()` on other publishers, but applied immediately.
  @inlinable public func count() -> Just<Int> where Failure == Never { .init(sequence.count) }
}

// MARK: - One value, or none

extension Publishers.Sequence where Failure == Never {
  /// Like `first(where:)` on other publishers, but applied immediately.
  @inlinable public func first(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.first(where: predicate))
  }
  /// Like `min(by:)` on other publishers, but applied immediately.
  @inlinable public func min(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.min(by: areInIncreasingOrder))
  }
  /// Like `max(by:)` on other publishers, but applied immediately.
  @inlinable public func max(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.max(by: areInIncreasingOrder))
  }
}

extension Publishers.Sequence where Failure == Never, Elements.Element: Comparable {
  /// Like `min()` on other publishers, but applied immediately.
  @inlinable public func min() -> Optional<Elements.Element>.Publisher { .init(sequence.min()) }
  /// Like `max()` on other publishers, but applied immediately.
  @inlinable public func max() -> Optional<Elements.Element>.Publisher { .init(sequence.max()) }
}

extension Publishers.Sequence where Failure == Never, Elements: Collection {
  /// Like `first()` on other publishers, but applied immediately.
  @inlinable public func first() -> Optional<Elements.Element>.Publisher { .init(sequence.first) }
  /// Like `output(at:)` on other publishers, but applied immediately, with the collection's index.
  @inlinable public func output(at index: Elements.Index) -> Optional<Elements.Element>.Publisher {
    .init(sequence.indices.contains(index) ? sequence[index] : nil)
  }
}

extension Publishers.Sequence where Failure == Never, Elements: BidirectionalCollection {
  /// Like `last()` on other publishers, but applied immediately.
  @inlinable public func last() -> Optional<Elements.Element>.Publisher { .init(sequence.last) }
  /// Like `last(where:)` on other publishers, but applied immediately.
  @inlinable public func last(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.last(where: predicate))
  }
}
