// Operators on a sequence, applied at once when the chain is assembled and by the sequence itself, as in Combine:
// `[1, 2].publisher.map { $0 * 2 }` is `[2, 4].publisher`.

// MARK: - A sequence again

extension Publishers.Sequence {
  /// As `map(_:)` of any publisher, applied at once.
  @inlinable public func map<T>(_ transform: (Elements.Element) -> T) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.map(transform))
  }
  /// As `compactMap(_:)` of any publisher, applied at once.
  @inlinable public func compactMap<T>(_ transform: (Elements.Element) -> T?) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.compactMap(transform))
  }
  /// As `replaceNil(with:)` of any publisher, applied at once.
  @inlinable
  public func replaceNil<T>(with output: T) -> Publishers.Sequence<[T], Failure> where Elements.Element == T? {
    map { $0 ?? output }
  }
  /// As `filter(_:)` of any publisher, applied at once.
  @inlinable public func filter(
    _ isIncluded: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.filter(isIncluded))
  }
  /// As `scan(_:_:)` of any publisher, applied at once.
  @inlinable public func scan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Publishers.Sequence<[T], Failure> {
    var result = initialResult
    return map { element in
      result = nextPartialResult(result, element)
      return result
    }
  }
  /// As `drop(while:)` of any publisher, applied at once.
  @inlinable public func drop(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<DropWhileSequence<Elements>, Failure> {
    .init(sequence: sequence.drop(while: predicate))
  }
  /// As `dropFirst(_:)` of any publisher, applied at once.
  @inlinable public func dropFirst(_ count: Int = 1) -> Publishers.Sequence<DropFirstSequence<Elements>, Failure> {
    precondition(count >= 0, "dropFirst(\(count)): a number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.dropFirst(count))
  }
  /// As `prefix(_:)` of any publisher, applied at once.
  @inlinable public func prefix(_ maxLength: Int) -> Publishers.Sequence<PrefixSequence<Elements>, Failure> {
    precondition(maxLength >= 0, "prefix(\(maxLength)): a number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.prefix(maxLength))
  }
  /// As `prefix(while:)` of any publisher, applied at once.
  @inlinable public func prefix(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.prefix(while: predicate))
  }
  /// As `setFailureType(to:)` of any publisher, applied at once.
  @inlinable public func setFailureType<E: Error>(to failureType: E.Type) -> Publishers.Sequence<Elements, E> {
    .init(sequence: sequence)
  }
  /// As `ignoreOutput()` of any publisher, applied at once.
  @inlinable public func ignoreOutput() -> Empty<Elements.Element, Failure> { Empty() }
}

extension Publishers.Sequence where Elements.Element: Equatable {
  /// As `removeDuplicates()` of any publisher, applied at once.
  @inlinable public func removeDuplicates() -> Publishers.Sequence<[Elements.Element], Failure> {
    var last: Elements.Element?
    return filter { element in
      defer { last = element }
      return element != last
    }
  }
}

extension Publishers.Sequence where Elements: RangeReplaceableCollection {
  /// As `prepend(_:)` of any publisher, applied at once.
  @inlinable
  public func prepend(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { prepend(elements) }
  /// As `prepend(_:)` of any publisher, applied at once.
  @inlinable public func prepend<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = Elements()
    joined.reserveCapacity(sequence.count + elements.underestimatedCount)
    joined.append(contentsOf: elements)
    joined.append(contentsOf: sequence)
    return .init(sequence: joined)
  }
  /// As `prepend(_:)` of any publisher, applied at once.
  @inlinable
  public func prepend(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    publisher.append(sequence)
  }
  /// As `append(_:)` of any publisher, applied at once.
  @inlinable
  public func append(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { append(elements) }
  /// As `append(_:)` of any publisher, applied at once.
  @inlinable public func append<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = sequence
    joined.append(contentsOf: elements)
    return .init(sequence: joined)
  }
  /// As `append(_:)` of any publisher, applied at once.
  @inlinable
  public func append(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    append(publisher.sequence)
  }
}

extension Publishers.Sequence where Elements: Collection {
  /// As `output(in:)` of any publisher, applied at once; by the collection's indices, all of which must be in it.
  @inlinable public func output(in range: Range<Elements.Index>) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: Array(sequence[range]))
  }
}

// MARK: - One value

extension Publishers.Sequence {
  /// As `collect()` of any publisher, applied at once.
  @inlinable public func collect() -> Result<[Elements.Element], Failure>.Publisher { .init(Array(sequence)) }
  /// As `allSatisfy(_:)` of any publisher, applied at once.
  @inlinable public func allSatisfy(_ predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.allSatisfy(predicate))
  }
  /// As `tryAllSatisfy(_:)` of any publisher, applied at once.
  @inlinable public func tryAllSatisfy(
    _ predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.allSatisfy(predicate) })
  }
  /// As `contains(where:)` of any publisher, applied at once.
  @inlinable public func contains(where predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.contains(where: predicate))
  }
  /// As `tryContains(where:)` of any publisher, applied at once.
  @inlinable public func tryContains(
    where predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.contains(where: predicate) })
  }
  /// As `contains(_:)` of any publisher, applied at once.
  @inlinable public func contains(
    _ output: Elements.Element
  ) -> Result<Bool, Failure>.Publisher where Elements.Element: Equatable {
    .init(sequence.contains(output))
  }
  /// As `reduce(_:_:)` of any publisher, applied at once.
  @inlinable public func reduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Result<T, Failure>.Publisher {
    .init(sequence.reduce(initialResult, nextPartialResult))
  }
  /// As `tryReduce(_:_:)` of any publisher, applied at once.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) throws -> T
  ) -> Result<T, any Error>.Publisher {
    .init(Result { try sequence.reduce(initialResult, nextPartialResult) })
  }
}

extension Publishers.Sequence where Elements: Collection {
  /// As `count()` of any publisher, applied at once.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
}

// `Just` is the better name where there is no failure; random access tells this from the method above.
extension Publishers.Sequence where Elements: RandomAccessCollection {
  /// As `count()` of any publisher, applied at once.
  @inlinable public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
  /// As `count()` of any publisher, applied at once.
  @inlinable public func count() -> Just<Int> where Failure == Never { .init(sequence.count) }
}

// MARK: - One value, or none

extension Publishers.Sequence where Failure == Never {
  /// As `first(where:)` of any publisher, applied at once.
  @inlinable public func first(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.first(where: predicate))
  }
  /// As `min(by:)` of any publisher, applied at once.
  @inlinable public func min(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.min(by: areInIncreasingOrder))
  }
  /// As `max(by:)` of any publisher, applied at once.
  @inlinable public func max(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.max(by: areInIncreasingOrder))
  }
}

extension Publishers.Sequence where Failure == Never, Elements.Element: Comparable {
  /// As `min()` of any publisher, applied at once.
  @inlinable public func min() -> Optional<Elements.Element>.Publisher { .init(sequence.min()) }
  /// As `max()` of any publisher, applied at once.
  @inlinable public func max() -> Optional<Elements.Element>.Publisher { .init(sequence.max()) }
}

extension Publishers.Sequence where Failure == Never, Elements: Collection {
  /// As `first()` of any publisher, applied at once.
  @inlinable public func first() -> Optional<Elements.Element>.Publisher { .init(sequence.first) }
  /// As `output(at:)` of any publisher, applied at once; by the collection's index.
  @inlinable public func output(at index: Elements.Index) -> Optional<Elements.Element>.Publisher {
    .init(sequence.indices.contains(index) ? sequence[index] : nil)
  }
}

extension Publishers.Sequence where Failure == Never, Elements: BidirectionalCollection {
  /// As `last()` of any publisher, applied at once.
  @inlinable public func last() -> Optional<Elements.Element>.Publisher { .init(sequence.last) }
  /// As `last(where:)` of any publisher, applied at once.
  @inlinable public func last(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.last(where: predicate))
  }
}
