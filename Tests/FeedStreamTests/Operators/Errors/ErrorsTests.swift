import FeedStream
import TestSupport
import Testing

@Suite("mapError, setFailureType, assertNoFailure, replaceError", .settled) struct ErrorMappingTests {
  let time = MarbleTime()

  private enum Other: Error, Equatable { case made(from: Boom) }

  @Test func `mapError transforms the failure`() {
    let recorder = time.cold("a#").mapError(Other.made).record(on: time)
    time.advance(by: 2)
    #expect(recorder.marbles == "a#")
    #expect(recorder.completion == .failure(.made(from: Boom())))
  }

  @Test func `setFailureType changes nothing but the type`() {
    let recorder = [1, 2].publisher.setFailureType(to: Boom.self).record(on: time)
    #expect(recorder.values == [1, 2])
    #expect(recorder.completion == .finished)
  }

  @Test func `assertNoFailure traps with the error and a hint`() async {
    await #expect(processExitsWith: .failure) {
      _ = Fail<Int, Boom>(error: Boom()).assertNoFailure("here").sink { _ in }
    }
  }

  @Test func `replaceError delivers a value in place of the failure`() {
    let recorder = time.cold("a#").replaceError(with: "z").record(on: time)
    time.advance(by: 2)
    #expect(recorder.marbles == "a(z|)")
  }

  @Test func `replaceError keeps its value until it is asked for`() {
    let recorder = time.cold("a#").replaceError(with: "z").record(on: time, asking: .max(1))
    time.advance(by: 3)
    #expect(recorder.marbles == "a")
    recorder.request(.max(1))
    #expect(recorder.marbles == "a--(z|)")
  }

  @Test func `what is asked for in the answer to a value that fails the stream is the replacement`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.replaceError(with: "z").record(on: time, asking: .max(1), andThen: .max(1))
    recorder.onValue = { if $0 == "a" { subject.send(completion: .failure(Boom())) } }
    subject.send("a")
    #expect(recorder.marbles == "(az|)")
  }

  @Test func `replaceError does not finish for a subscriber that cancels upon its value`() {
    let recorder = time.cold("#").replaceError(with: "z").record(on: time)
    recorder.onValue = { _ in recorder.cancel() }
    time.advance(by: 1)
    #expect(recorder.marbles == "z")
  }
}

@Suite("catch", .settled) struct CatchTests {
  let time = MarbleTime()

  @Test func `catch goes on with the other publisher`() {
    let recorder = time.cold("a-#").catch { _ in time.cold("xy|") }.record(on: time)
    time.advance(by: 6)
    #expect(recorder.marbles == "a-xy|")
  }

  @Test func `catch asks the other publisher for what is left of the demand`() {
    let recorder = time.cold("ab#").catch { _ in time.cold("xyz|") }.record(on: time, asking: .max(4))
    time.advance(by: 6)
    #expect(recorder.values == ["a", "b", "x", "y"])
  }

  @Test func `what is asked for in the answer to a value that fails the stream is asked of the other publisher`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.catch { _ in "xyz".publisher }
      .record(on: time, asking: .max(1), andThen: .max(1))
    recorder.onValue = { if $0 == "a" { subject.send(completion: .failure(Boom())) } }
    subject.send("a")
    #expect(recorder.values == ["a", "x", "y", "z"])
  }

  @Test func `cancelling while the other publisher is made cancels it too`() {
    let subject = PassthroughSubject<Character, Boom>()
    var cancel = {}
    let recorder = subject.catch { _ in
      cancel()
      return "x".publisher
    }.record(on: time)
    cancel = { recorder.cancel() }
    subject.send(completion: .failure(Boom()))
    #expect(recorder.marbles == "")
  }

  @Test func `tryCatch fails with what the handler throws`() {
    struct Worse: Error {}
    let recorder = time.cold("a#").tryCatch { _ -> Just<Character> in throw Worse() }.record(on: time)
    time.advance(by: 2)
    #expect(recorder.marbles == "a#")
    #expect(recorder.error is Worse)
  }
}

@Suite("retry", .settled) struct RetryTests {
  let time = MarbleTime()

  @Test func `retry subscribes again as often as it may`() {
    let recorder = time.cold("a#").retry(2).record(on: time)
    time.advance(by: 9)
    #expect(recorder.marbles == "aaa#")
    #expect(recorder.completion == .failure(Boom()))
  }

  @Test func `retry asks again for what is left of the demand`() {
    let recorder = time.cold("ab#").retry(5).record(on: time, asking: .max(3))
    time.advance(by: 9)
    #expect(recorder.values == ["a", "b", "a"])
  }

  @Test func `a source that fails a hundred thousand times keeps the stack flat`() {
    var attempts = 0
    let recorder = Deferred {
      attempts += 1
      return Fail<Int, Boom>(error: Boom())
    }.retry(100_000).record(on: time)
    #expect(attempts == 100_001)
    #expect(recorder.completion == .failure(Boom()))
  }

  @Test func `a source that delivers and fails a hundred thousand times keeps the stack flat`() {
    var attempts = 0
    let source = Deferred {
      attempts += 1
      return [attempts].publisher.tryMap { $0 <= 100_000 ? try failing($0) : $0 }
    }
    func failing(_ value: Int) throws -> Int { throw Boom() }
    #expect(source.retry(200_000).pulled(.requesting) == 1)
    #expect(attempts == 100_001)
  }

  @Test func `cancelling stops the retries`() {
    var attempts = 0
    var cancel = {}
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = Deferred {
      attempts += 1
      if attempts == 3 { cancel() }
      return attempts == 1 ? subject.eraseToAnyPublisher() : Fail(error: Boom()).eraseToAnyPublisher()
    }.retry(10).record(on: time)
    cancel = { recorder.cancel() }
    subject.send(completion: .failure(Boom()))
    #expect(attempts == 3)
    #expect(recorder.completion == nil)
  }
}
