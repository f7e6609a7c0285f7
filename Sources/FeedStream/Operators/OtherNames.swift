// Names that other libraries give to operators: the compiler's error names the replacement. The functions of names that
// exist don't return AnyPublisher: the compiler would choose them to explain a forgotten eraseToAnyPublisher().
extension Publisher {
  @available(
    *, unavailable,
    message: "the closure returns a sequence, but flatMap needs a publisher; return the sequence's .publisher"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMap<S: Sequence>(_ transform: @escaping (Output) -> S) -> AnyPublisher<S.Element, Failure> {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "flatMap needs a publisher; for asynchronous code, return Future { await … }, or use mapAsync"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMap<T>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) async throws -> T
  ) -> Publishers.Map<Self, T> { fatalError("unavailable") }

  @available(
    *, unavailable, message: "flatMapLatest needs a publisher; for asynchronous code, return Future { await … }"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMapLatest<T>(_ transform: @escaping (Output) async throws -> T) -> Publishers.Map<Self, T> {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "for code that throws, use tryMap; for asynchronous code, use mapAsync(limit:) or tryMapAsync(limit:)"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func map<T>(_ transform: @escaping (Output) async throws -> T) -> Publishers.Map<Self, T> {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "say how many tasks may run at the same time: mapAsync(limit: 4), or tryMapAsync(limit: 4) if they throw"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func mapAsync<T>(_ transform: @escaping (Output) async throws -> T) -> Publishers.Map<Self, T> {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "the two streams fail with different errors; write mapError or eraseFailureType() on one or both"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMap<P: Publisher>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
  ) -> Publishers.Map<Self, P.Output> { fatalError("unavailable") }

  @available(
    *, unavailable,
    message: "the two streams fail with different errors; write mapError or eraseFailureType() on one or both"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.Map<Self, P.Output> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "prefix(_:)")
  @_documentation(visibility: internal)
  public func take(_ count: Int) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "prefix(untilOutputFrom:)")
  @_documentation(visibility: internal)
  public func take<P: Publisher>(until other: P) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "dropFirst(_:)")
  @_documentation(visibility: internal)
  public func skip(_ count: Int) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "drop(untilOutputFrom:)")
  @_documentation(visibility: internal)
  public func skip<P: Publisher>(until other: P) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "prepend(_:)")
  @_documentation(visibility: internal)
  public func startWith(_ elements: Output...) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "append(_:)")
  @_documentation(visibility: internal)
  public func concat<P: Publisher<Output, Failure>>(_ other: P) -> AnyPublisher<Output, Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "removeDuplicates()")
  @_documentation(visibility: internal)
  public func distinctUntilChanged() -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "receive(on:)")
  @_documentation(visibility: internal)
  public func observe<S: Scheduler>(on scheduler: S) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "flatMapLatest(_:)")
  @_documentation(visibility: internal)
  public func switchMap<P: Publisher>(_ transform: @escaping (Output) -> P) -> AnyPublisher<P.Output, Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "handleEvents(receiveOutput:)")
  @_documentation(visibility: internal)
  public func `do`(onNext: @escaping (Output) -> Void) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "sink(receiveValue:)")
  @_documentation(visibility: internal)
  public func forEach(_ body: @escaping (Output) -> Void) -> AnyCancellable { fatalError("unavailable") }

  @available(*, unavailable, message: "use sink(receiveCompletion:receiveValue:)")
  @_documentation(visibility: internal) @inlinable
  public func subscribe(
    onNext: ((Output) -> Void)? = nil, onError: ((any Error) -> Void)? = nil, onCompleted: (() -> Void)? = nil
  ) -> AnyCancellable { fatalError("unavailable") }

  @available(*, unavailable, renamed: "receive(on:)")
  @_documentation(visibility: internal)
  public func observeOn<S: Scheduler>(_ scheduler: S) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "receive(on:)")
  @_documentation(visibility: internal)
  public func publishOn<S: Scheduler>(_ scheduler: S) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "subscribe(on:)")
  @_documentation(visibility: internal)
  public func subscribeOn<S: Scheduler>(_ scheduler: S) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "flatMap(_:)")
  @_documentation(visibility: internal)
  public func mergeMap<P: Publisher>(_ transform: @escaping (Output) -> P) -> AnyPublisher<P.Output, Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "flatMap(_:)")
  @_documentation(visibility: internal)
  public func flatMapMerge<P: Publisher>(_ transform: @escaping (Output) -> P) -> AnyPublisher<P.Output, Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "catch(_:)")
  @_documentation(visibility: internal)
  public func catchError<P: Publisher>(_ handler: @escaping (Failure) -> P) -> AnyPublisher<Output, P.Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "mapAsync(_:)")
  @_documentation(visibility: internal)
  public func asyncMap<T>(_ transform: @escaping (Output) async throws -> T) -> AnyPublisher<T, any Error> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "handleEvents(receiveOutput:)")
  @_documentation(visibility: internal)
  public func tap(_ body: @escaping (Output) -> Void) -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "handleEvents(receiveOutput:)")
  @_documentation(visibility: internal)
  public func doOnNext(_ body: @escaping (Output) -> Void) -> AnyPublisher<Output, Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "sink(receiveValue:)")
  @_documentation(visibility: internal)
  public func onNext(_ body: @escaping (Output) -> Void) -> AnyCancellable { fatalError("unavailable") }

  @available(*, unavailable, renamed: "sink(receiveValue:)")
  @_documentation(visibility: internal)
  public func observeValues(_ body: @escaping (Output) -> Void) -> AnyCancellable { fatalError("unavailable") }

  @available(*, unavailable, renamed: "sink(receiveValue:)")
  @_documentation(visibility: internal)
  public func startWithValues(_ body: @escaping (Output) -> Void) -> AnyCancellable { fatalError("unavailable") }

  @available(*, unavailable, renamed: "collect()")
  @_documentation(visibility: internal)
  public func toArray() -> AnyPublisher<[Output], Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "removeDuplicates()")
  @_documentation(visibility: internal)
  public func skipRepeats() -> AnyPublisher<Output, Failure> { fatalError("unavailable") }

  @available(*, unavailable, renamed: "withLatestFrom(_:)")
  @_documentation(visibility: internal)
  public func withLatest<P: Publisher>(from other: P) -> AnyPublisher<(Output, P.Output), Failure> {
    fatalError("unavailable")
  }

  @available(*, unavailable, renamed: "eraseToAnyPublisher()")
  @_documentation(visibility: internal)
  public func asObservable() -> AnyPublisher<Output, Failure> { fatalError("unavailable") }
}

extension Subject {
  @available(*, unavailable, renamed: "send(_:)")
  @_documentation(visibility: internal)
  public func onNext(_ value: Output) { fatalError("unavailable") }

  @available(*, unavailable, message: "use send(completion: .failure(…))")
  @_documentation(visibility: internal)
  public func onError(_ error: Failure) { fatalError("unavailable") }

  @available(*, unavailable, message: "use send(completion: .finished)")
  @_documentation(visibility: internal)
  public func onCompleted() { fatalError("unavailable") }

  @available(*, unavailable, renamed: "send(_:)")
  @_documentation(visibility: internal)
  public func next(_ value: Output) { fatalError("unavailable") }

  @available(*, unavailable, renamed: "send(_:)")
  @_documentation(visibility: internal)
  public func emit(_ value: Output) { fatalError("unavailable") }

  @available(*, unavailable, message: "use send(completion: .finished)")
  @_documentation(visibility: internal)
  public func onComplete() { fatalError("unavailable") }

  @available(*, unavailable, message: "use send(completion: .finished)")
  @_documentation(visibility: internal)
  public func complete() { fatalError("unavailable") }
}

extension AnyCancellable {
  @available(*, unavailable, renamed: "cancel()")
  @_documentation(visibility: internal)
  public func dispose() { fatalError("unavailable") }

  @available(*, unavailable, renamed: "store(in:)")
  @_documentation(visibility: internal)
  public func disposed(by set: inout Set<AnyCancellable>) { fatalError("unavailable") }
}
