import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FutureTests {
  @Test func `a Future's work starts before any subscription, and its first result is kept`() {
    var promise: Future<Int, MarbleFailure>.Promise?
    let future = Future<Int, MarbleFailure> { promise = $0 }
    #expect(promise != nil)
    let early = future.record()
    promise?(.success(1))
    promise?(.success(2))
    early.expect("(1|)")
    future.record().expect("(1|)")
  }

  @Test func `a Future's value waits for a request, and its failure doesn't`() {
    let value = Future<Int, MarbleFailure> { $0(.success(1)) }.record(demand: .none)
    value.expect("")
    value.request(.max(1))
    value.expect("(1|)")
    Future<Int, MarbleFailure> { $0(.failure(MarbleFailure())) }.record(demand: .none).expect("#")
  }

  @Test func `after cancelling, also on the value, a subscriber receives no events`() {
    var promise: Future<Int, MarbleFailure>.Promise?
    let future = Future<Int, MarbleFailure> { promise = $0 }
    let cancelled = future.record()
    cancelled.cancel()
    let cancelling = future.record()
    cancelling.onValue = { _ in cancelling.cancel() }
    promise?(.success(1))
    cancelled.expect("")
    cancelling.expect("1")
  }

  @Test func `value returns the value or throws the failure`() async throws {
    let value = await Future<Int, Never> { $0(.success(1)) }.value
    #expect(value == 1)
    await #expect(throws: Boom.self) { try await Future<Int, Boom> { $0(.failure(Boom())) }.value }
  }

  @Test func `a promise of a non-Sendable output works as in Combine`() {
    final class Document {}
    let document = Document()
    var promise: Future<Document, Never>.Promise?
    let future = Future<Document, Never> { promise = $0 }
    var received: [Document] = []
    let subscription = future.sink { received.append($0) }
    func load(_ completion: (Result<Document, Never>) -> Void) { completion(.success(document)) }
    load { promise?($0) }
    #expect(received.map(ObjectIdentifier.init) == [ObjectIdentifier(document)])
    subscription.cancel()
  }
}
