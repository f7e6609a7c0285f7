import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct FutureTests {
  private let time = MarbleTime()

  @Test func `the work begins before anybody subscribes, and its first result is kept for everybody`() {
    var promise: Future<Int, Boom>.Promise?
    let future = Future<Int, Boom> { promise = $0 }
    #expect(promise != nil)
    let early = future.record(on: time)
    promise?(.success(1))
    promise?(.success(2))
    #expect(early.marbles == "(1|)")
    #expect(future.record(on: time).marbles == "(1|)")
  }

  @Test func `a value waits for a request, a failure does not`() {
    let value = Future<Int, Boom> { $0(.success(1)) }.record(on: time, asking: .none)
    #expect(value.marbles == "")
    value.request(.max(1))
    #expect(value.marbles == "(1|)")
    #expect(Future<Int, Boom> { $0(.failure(Boom())) }.record(on: time, asking: .none).marbles == "#")
  }

  @Test func `a subscriber that has cancelled, or cancels on the value, hears no more`() {
    var promise: Future<Int, Boom>.Promise?
    let future = Future<Int, Boom> { promise = $0 }
    let cancelled = future.record(on: time)
    cancelled.cancel()
    let cancelling = future.record(on: time)
    cancelling.onValue = { _ in cancelling.cancel() }
    promise?(.success(1))
    #expect(cancelled.marbles == "")
    #expect(cancelling.marbles == "1")
  }

  @Test func `value returns the value or throws the failure`() async throws {
    let value = await Future<Int, Never> { $0(.success(1)) }.value
    #expect(value == 1)
    await #expect(throws: Boom.self) { try await Future<Int, Boom> { $0(.failure(Boom())) }.value }
  }
}
