// Names that other libraries give to operators: the compiler says which one to write instead.
extension Publisher {
  @available(
    *, unavailable, message: "the closure returns a sequence; flatMap needs a publisher, such as its .publisher"
  )
  @_documentation(visibility: internal) @_disfavoredOverload
  public func flatMap<S: Sequence>(_ transform: @escaping (Output) -> S) -> AnyPublisher<S.Element, Failure> {
    fatalError("unavailable")
  }

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
}

extension AnyCancellable {
  @available(*, unavailable, renamed: "cancel()")
  @_documentation(visibility: internal)
  public func dispose() { fatalError("unavailable") }

  @available(*, unavailable, renamed: "store(in:)")
  @_documentation(visibility: internal)
  public func disposed(by set: inout Set<AnyCancellable>) { fatalError("unavailable") }
}
