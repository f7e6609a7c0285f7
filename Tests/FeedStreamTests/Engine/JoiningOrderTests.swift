import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Whatever their number and form, `zip` and `combineLatest` handle events in the order in which they arrive, even those
/// that arrive during a delivery.
@Suite(.settled) struct JoiningOrderTests {
  typealias Source = AnyPublisher<Int, Boom>

  struct Form: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isZip: Bool
    /// Joins two publishers; if the operator takes more, the ones before them don't affect the result.
    let join: @Sendable (Source, Source) -> AnyPublisher<[Int], Boom>

    init<P: Publisher & SendableMetatype>(
      _ name: String, isZip: Bool, _ join: @escaping @Sendable (Source, Source) -> P
    ) where P.Output == [Int], P.Failure == Boom {
      testDescription = name
      self.isZip = isZip
      self.join = { join($0, $1).map { Array($0.suffix(2)) }.eraseToAnyPublisher() }
    }
  }

  static let forms = [
    Form("zip of two", isZip: true) { a, b in a.zip(b) { [$0, $1] } },
    Form("zip of three", isZip: true) { a, b in many.zip(a, b) { [$0, $1, $2] } },
    Form("zip of four", isZip: true) { a, b in many.zip(many, a, b) { [$0, $1, $2, $3] } },
    Form("zip of a collection", isZip: true) { a, b in [a, b].zip() },
    Form("zip of any number", isZip: true) { a, b in zip(a, b).map { [$0, $1] } },
    Form("combineLatest of two", isZip: false) { a, b in a.combineLatest(b) { [$0, $1] } },
    Form("combineLatest of three", isZip: false) { a, b in one.combineLatest(a, b) { [$0, $1, $2] } },
    Form("combineLatest of four", isZip: false) { a, b in one.combineLatest(one, a, b) { [$0, $1, $2, $3] } },
    Form("combineLatest of a collection", isZip: false) { a, b in [a, b].combineLatest() },
    Form("combineLatest of any number", isZip: false) { a, b in combineLatest(a, b).map { [$0, $1] } },
  ]

  @Test(arguments: forms) func `zip and combineLatest fail immediately when a source fails while it is requested`(
    _ form: Form
  ) {
    let bad = [1, 2].publisher.setFailureType(to: Boom.self).append(Fail(error: Boom())).eraseToAnyPublisher()
    let good = [3, 4].publisher.setFailureType(to: Boom.self).eraseToAnyPublisher()
    let recorder = form.join(bad, good).record()
    #expect(recorder.values == [])
    #expect(recorder.failure == Boom())
    let later = form.join(good, bad).record()
    #expect(later.values == (form.isZip ? [[3, 1], [4, 2]] : [[4, 1], [4, 2]]))
    #expect(later.completion == (form.isZip ? .finished : .failure(Boom())))
  }

  @Test(arguments: forms) func `of two completions during a delivery, the first one counts`(_ form: Form) {
    let (a, b) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
    let recorder = form.join(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()).record()
    recorder.onValue = { _ in
      a.send(completion: .finished)
      b.send(completion: .failure(Boom()))
    }
    a.send(1)
    b.send(1)
    #expect(recorder.values == [[1, 1]])
    // `combineLatest` continues with the values of the other publisher.
    #expect(recorder.completion == (form.isZip ? .finished : .failure(Boom())))
  }

  @Test(arguments: forms) func `values combined before a failure are delivered before it, and none after it`(
    _ form: Form
  ) {
    let (a, b) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
    var sent: Delivery?
    let recorder = form.join(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()).record()
    recorder.onValue = { value in
      guard value == [1, 1] else { return }
      for number in [2, 3] { b.send(number) }
      a.send(2)
      b.send(completion: .failure(Boom()))
      sent = a.send(4)
    }
    a.send(1)
    b.send(1)
    #expect(recorder.values == (form.isZip ? [[1, 1], [2, 2]] : [[1, 1], [1, 2], [1, 3], [2, 3]]))
    #expect(recorder.failure == Boom())
    #expect(sent == Delivery())
  }

  @Test(arguments: forms) func `zip and combineLatest finish with an empty publisher before another one's failure`(
    _ form: Form
  ) {
    let recorder = form.join(Empty().eraseToAnyPublisher(), Fail(error: Boom()).eraseToAnyPublisher()).record()
    #expect(recorder.completion == .finished)
    let failed = form.join(Fail(error: Boom()).eraseToAnyPublisher(), Empty().eraseToAnyPublisher()).record()
    #expect(failed.failure == Boom())
  }

  @Test(arguments: forms) func `a failure during the last pair that zip can deliver is ignored`(_ form: Form) {
    guard form.isZip else { return }
    let (a, b) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
    let recorder = form.join(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()).record()
    for number in 1...2 { a.send(number) }
    a.send(completion: .finished)
    recorder.onValue = { value in
      guard value == [1, 1] else { return }
      b.send(2)
      b.send(completion: .failure(Boom()))
    }
    b.send(1)
    #expect(recorder.values == [[1, 1], [2, 2]])
    #expect(recorder.completion == .finished)
  }

  private static var many: Source { (0..<9).publisher.setFailureType(to: Boom.self).eraseToAnyPublisher() }
  private static var one: Source {
    [0].publisher.append(Empty(completeImmediately: false)).setFailureType(to: Boom.self).eraseToAnyPublisher()
  }
}
