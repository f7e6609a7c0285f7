// Operators on a sequence, applied at once when the chain is assembled and by the sequence itself, as in Combine:
// `[1, 2].publisher.map { $0 * 2 }` is `[2, 4].publisher`.

// MARK: - A sequence again

extension Publishers.Sequence {
  @inlinable
  public func map<T>(_ transform: (Elements.Element) -> T) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.map(transform))
  }
  @inlinable
  public func compactMap<T>(_ transform: (Elements.Element) -> T?) -> Publishers.Sequence<[T], Failure> {
    .init(sequence: sequence.compactMap(transform))
  }
  @inlinable
  public func replaceNil<T>(with output: T) -> Publishers.Sequence<[T], Failure> where Elements.Element == T? {
    map { $0 ?? output }
  }
  @inlinable
  public func filter(
    _ isIncluded: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.filter(isIncluded))
  }
  @inlinable
  public func scan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Publishers.Sequence<[T], Failure> {
    var result = initialResult
    return map { element in
      result = nextPartialResult(result, element)
      return result
    }
  }
  @inlinable
  public func drop(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<DropWhileSequence<Elements>, Failure> {
    .init(sequence: sequence.drop(while: predicate))
  }
  @inlinable
  public func dropFirst(_ count: Int = 1) -> Publishers.Sequence<DropFirstSequence<Elements>, Failure> {
    precondition(count >= 0, "dropFirst(\(count)): a number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.dropFirst(count))
  }
  @inlinable
  public func prefix(_ maxLength: Int) -> Publishers.Sequence<PrefixSequence<Elements>, Failure> {
    precondition(maxLength >= 0, "prefix(\(maxLength)): a number of values cannot be negative; use 0 or more")
    return .init(sequence: sequence.prefix(maxLength))
  }
  @inlinable
  public func prefix(
    while predicate: (Elements.Element) -> Bool
  ) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: sequence.prefix(while: predicate))
  }
  @inlinable
  public func setFailureType<E: Error>(to failureType: E.Type) -> Publishers.Sequence<Elements, E> {
    .init(sequence: sequence)
  }
  @inlinable
  public func ignoreOutput() -> Empty<Elements.Element, Failure> { Empty() }
}

extension Publishers.Sequence where Elements.Element: Equatable {
  @inlinable
  public func removeDuplicates() -> Publishers.Sequence<[Elements.Element], Failure> {
    var last: Elements.Element?
    return filter { element in
      defer { last = element }
      return element != last
    }
  }
}

extension Publishers.Sequence where Elements: RangeReplaceableCollection {
  @inlinable
  public func prepend(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { prepend(elements) }
  @inlinable
  public func prepend<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = Elements()
    joined.reserveCapacity(sequence.count + elements.underestimatedCount)
    joined.append(contentsOf: elements)
    joined.append(contentsOf: sequence)
    return .init(sequence: joined)
  }
  @inlinable
  public func prepend(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    publisher.append(sequence)
  }
  @inlinable
  public func append(_ elements: Elements.Element...) -> Publishers.Sequence<Elements, Failure> { append(elements) }
  @inlinable
  public func append<S: Swift.Sequence>(
    _ elements: S
  ) -> Publishers.Sequence<Elements, Failure> where S.Element == Elements.Element {
    var joined = sequence
    joined.append(contentsOf: elements)
    return .init(sequence: joined)
  }
  @inlinable
  public func append(_ publisher: Publishers.Sequence<Elements, Failure>) -> Publishers.Sequence<Elements, Failure> {
    append(publisher.sequence)
  }
}

extension Publishers.Sequence where Elements: Collection {
  @inlinable
  public func output(in range: Range<Elements.Index>) -> Publishers.Sequence<[Elements.Element], Failure> {
    .init(sequence: Array(sequence[range]))
  }
}

// MARK: - One value

extension Publishers.Sequence {
  @inlinable
  public func collect() -> Result<[Elements.Element], Failure>.Publisher { .init(Array(sequence)) }
  @inlinable
  public func allSatisfy(_ predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.allSatisfy(predicate))
  }
  @inlinable
  public func tryAllSatisfy(
    _ predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.allSatisfy(predicate) })
  }
  @inlinable
  public func contains(where predicate: (Elements.Element) -> Bool) -> Result<Bool, Failure>.Publisher {
    .init(sequence.contains(where: predicate))
  }
  @inlinable
  public func tryContains(
    where predicate: (Elements.Element) throws -> Bool
  ) -> Result<Bool, any Error>.Publisher {
    .init(Result { try sequence.contains(where: predicate) })
  }
  @inlinable
  public func contains(
    _ output: Elements.Element
  ) -> Result<Bool, Failure>.Publisher where Elements.Element: Equatable {
    .init(sequence.contains(output))
  }
  @inlinable
  public func reduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) -> T
  ) -> Result<T, Failure>.Publisher {
    .init(sequence.reduce(initialResult, nextPartialResult))
  }
  @inlinable
  public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Elements.Element) throws -> T
  ) -> Result<T, any Error>.Publisher {
    .init(Result { try sequence.reduce(initialResult, nextPartialResult) })
  }
}

extension Publishers.Sequence where Elements: Collection {
  @inlinable
  public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
}

// `Just` is the better name where there is no failure; random access tells this from the method above.
extension Publishers.Sequence where Elements: RandomAccessCollection {
  @inlinable
  public func count() -> Result<Int, Failure>.Publisher { .init(sequence.count) }
  @inlinable
  public func count() -> Just<Int> where Failure == Never { .init(sequence.count) }
}

// MARK: - One value, or none

extension Publishers.Sequence where Failure == Never {
  @inlinable
  public func first(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.first(where: predicate))
  }
  @inlinable
  public func min(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.min(by: areInIncreasingOrder))
  }
  @inlinable
  public func max(
    by areInIncreasingOrder: (Elements.Element, Elements.Element) -> Bool
  ) -> Optional<Elements.Element>.Publisher {
    .init(sequence.max(by: areInIncreasingOrder))
  }
}

extension Publishers.Sequence where Failure == Never, Elements.Element: Comparable {
  @inlinable
  public func min() -> Optional<Elements.Element>.Publisher { .init(sequence.min()) }
  @inlinable
  public func max() -> Optional<Elements.Element>.Publisher { .init(sequence.max()) }
}

extension Publishers.Sequence where Failure == Never, Elements: Collection {
  @inlinable
  public func first() -> Optional<Elements.Element>.Publisher { .init(sequence.first) }
  @inlinable
  public func output(at index: Elements.Index) -> Optional<Elements.Element>.Publisher {
    .init(sequence.indices.contains(index) ? sequence[index] : nil)
  }
}

extension Publishers.Sequence where Failure == Never, Elements: BidirectionalCollection {
  @inlinable
  public func last() -> Optional<Elements.Element>.Publisher { .init(sequence.last) }
  @inlinable
  public func last(where predicate: (Elements.Element) -> Bool) -> Optional<Elements.Element>.Publisher {
    .init(sequence.last(where: predicate))
  }
}
