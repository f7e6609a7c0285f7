import FeedStream
import Harness

/// A source, measured alone and with operators below it, which cost nothing if they are specialized.
struct SourceRow {
  let file: String
  let name: String
  /// Delivers a number of values to a closure, with operators in between or without.
  let run: (Int, Bool, @escaping (Int) -> Void) -> Void
}

extension Publisher where Output == Int {
  @inline(__always) fileprivate func end(_ isLong: Bool, _ add: @escaping (Int) -> Void) -> AnyCancellable {
    if isLong {
      map(work.increment).filter(work.isAny).map(work.increment).sink(receiveCompletion: { _ in }, receiveValue: add)
    } else {
      sink(receiveCompletion: { _ in }, receiveValue: add)
    }
  }
}

private final class Owner { @Published var number = 0 }

func sourceRows() -> [SourceRow] {
  func row<P: Publisher>(_ file: String, _ name: String, _ make: @escaping (Int) -> P) -> SourceRow
  where P.Output == Int {
    SourceRow(file: file, name: name) { count, isLong, add in
      withExtendedLifetime(make(count).end(isLong, add)) {}
    }
  }
  /// A subject, to which numbers are sent.
  func subject<P: Publisher>(
    _ file: String, _ name: String, _ make: @escaping () -> (P, (Int) -> Void)
  ) -> SourceRow where P.Output == Int {
    SourceRow(file: file, name: name) { count, isLong, add in
      let (publisher, send) = make()
      let subscription = publisher.end(isLong, add)
      for number in 0..<count { send(number) }
      withExtendedLifetime(subscription) {}
    }
  }
  return [
    row("Sequence", "Sequence") { Numbers(count: $0) },
    row("Generate", "Generate") { count in
      Generate(state: 0) { state in
        state += 1
        return state > count ? nil : state
      }
    },
    row("Record", "Record") { Record<Int, Never>(output: Array(0..<$0), completion: .finished) },
    row("Create", "Create") { count in
      Create<Int, Never> { emitter in for number in 0..<count { emitter.send(number) } }
    },
    row("Deferred", "Deferred") { count in Deferred { Numbers(count: count) } },
    row("Using", "using") { count in
      Publishers.using({ count }, dispose: { _ in }, publisher: { Numbers(count: $0) })
    },
    row("AnyPublisher", "AnyPublisher") { Numbers(count: $0).eraseToAnyPublisher() },
    row("GroupBy", "a group of groupBy") { count in
      Numbers(count: count).groupBy { _ in 0 }.flatMap { $0 }
    },
    subject("PassthroughSubject", "PassthroughSubject") {
      let subject = Subject()
      return (subject, { subject.send($0) })
    },
    subject("CurrentValueSubject", "CurrentValueSubject") {
      let subject = CurrentValueSubject<Int, Never>(0)
      return (subject, { subject.send($0) })
    },
    subject("ReplaySubject", "ReplaySubject") {
      let subject = ReplaySubject<Int, Never>(count: 1)
      return (subject, { subject.send($0) })
    },
    subject("Published", "$published") {
      let owner = Owner()
      return (owner.$number, { owner.number = $0 })
    },
  ]
}
