import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct RetryTests {
  @Test func `retry subscribes again as often as allowed`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").retry(2).record(on: time)
      time.run()
      recorder.expect("aaa#")
    }
  }

  @Test func `retry requests the remaining demand again`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").retry(5).record(on: time, demand: .max(3))
      time.run()
      recorder.expect("aba")
      recorder.cancel()
    }
  }

  @Test func `a source that fails a hundred thousand times keeps the stack flat`() {
    var attempts = 0
    let recorder = Deferred {
      attempts += 1
      return Fail<Int, Boom>(error: Boom())
    }.retry(100_000).record()
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

  /// Delivers 1, 2 and 3 immediately, even after it was cancelled.
  private struct Unstoppable: Publisher {
    typealias Output = Int
    typealias Failure = Never
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subscriber.receive(subscription: Subscriptions.empty)
      for number in 1...3 { _ = subscriber.receive(number) }
      subscriber.receive(completion: .finished)
    }
  }

  // In a process of its own, which uses no queue: retry then needs no gate on a loop.
  @Test func `retry drops the values that a failed publisher still delivers, even on a loop`() async {
    await #expect(processExitsWith: .success) {
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          var isFirst = true
          let recorder = Unstoppable().tryMap { number -> Int in
            defer { isFirst = false }
            if isFirst { throw Boom() }
            return number
          }
          .retry(1).record()
          precondition(recorder.values == [1, 2, 3], "\(recorder.values)")
          precondition(recorder.failure == nil, "the second attempt doesn't fail")
          loop.close()
          done.resume()
        }
      }
    }
  }

  @Test func `cancelling stops retry`() {
    var attempts = 0
    var cancel = {}
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = Deferred {
      attempts += 1
      if attempts == 3 { cancel() }
      return attempts == 1 ? subject.eraseToAnyPublisher() : Fail(error: Boom()).eraseToAnyPublisher()
    }.retry(10).record()
    cancel = { recorder.cancel() }
    subject.send(completion: .failure(Boom()))
    #expect(attempts == 3)
    #expect(recorder.completion == nil)
  }

  @Test func `retry subscribes again only after the first subscription call has returned`() {
    struct Failing: Publisher {
      typealias Output = Int
      typealias Failure = Boom
      let note: (String) -> Void
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Boom {
        note("subscribed")
        Fail(error: Boom()).receive(subscriber: subscriber)
        note("returned")
      }
    }
    var log: [String] = []
    #expect(Failing { log.append($0) }.retry(2).record().failure == Boom())
    #expect(log == ["subscribed", "returned", "subscribed", "returned", "subscribed", "returned"])
  }
}
