import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RetryWhenTests {
  @Test func `retry(when:) subscribes again with each value of the handler's publisher`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").retry(when: {
        $0.delay(for: .milliseconds(2), scheduler: time).setFailureType(to: MarbleFailure.self)
      })
      .record(on: time, demand: .max(3))
      time.advance(by: .milliseconds(9))
      recorder.cancel()
      recorder.expect("a--a--a")
    }
  }

  @Test func `retry(when:) also retries for the signal's last value, whatever the demand`() {
    withVirtualTime { time in
      var attempts = 0
      let retried = Deferred {
        attempts += 1
        return (0..<4).publisher.setFailureType(to: Boom.self).append(Fail(error: Boom()))
      }.retry(when: { $0.prefix(2) })
      #expect(retried.record(on: time).values.count == 12)
      #expect(attempts == 3)
      let late = retried.record(on: time, demand: .none)
      late.request(.unlimited)
      #expect(late.values.count == 12)
      #expect(late.completion == .finished)
      #expect(attempts == 6)
      // The last attempt has received no request when the signal completes.
      let counted = retried.record(on: time, demand: .max(1))
      while counted.completion == nil { counted.request(.max(1)) }
      #expect(counted.values.count == 8)
      #expect(attempts == 9)
    }
  }

  @Test func `retry(when:) completes as the handler's publisher does`() {
    withVirtualTime { time in
      let recorder = time.cold("-a#").retry(when: { $0.delay(for: .milliseconds(2), scheduler: time).prefix(1) })
        .record(
          on: time)
      time.run()
      recorder.expect("-a--|")
    }
  }

  @Test func `retry(when:) passes every failure to the handler`() {
    withVirtualTime { time in
      var failures: [MarbleFailure] = []
      let recorder = time.cold("#").retry(
        when: { errors in
          errors.handleEvents(receiveOutput: { failures.append($0) }).delay(for: .milliseconds(1), scheduler: time)
        }
      ).record(on: time)
      time.advance(by: .milliseconds(3))
      recorder.cancel()
      #expect(failures.count == 4)
      // The work that the handler has scheduled has no effect.
      time.run()
    }
  }

  /// A publisher that always fails, and calls `attempt` for each subscription.
  private func failing(_ attempt: @escaping () -> Void) -> some Publisher<Int, Boom> {
    Deferred {
      attempt()
      return Fail<Int, Boom>(error: Boom())
    }
  }

  @Test func `retry(when:) waits for a handler's publisher that accepts its subscription after a failure`() {
    withVirtualTime { time in
      var attempts = 0
      let recorder = failing { attempts += 1 }.retry(when: { _ in (0..<2).publisher.subscribe(on: time) }).record(
        on: time)
      time.run()
      recorder.expect("|")
      #expect(attempts == 3)
    }
  }

  @Test func `retry(when:) keeps a failure for a handler whose request arrives after it, as on a busy queue`() {
    withVirtualTime { time in
      var attempts = 0
      let recorder = failing { attempts += 1 }.retry(when: { LateRequests(upstream: $0, time: time).prefix(3) }).record(
        on: time)
      time.run()
      recorder.expect("---|")
      #expect(attempts == 4)
    }
  }
}

/// Passes requests on one millisecond after they were made.
private struct LateRequests<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure

  let upstream: Upstream
  let time: VirtualTimeScheduler

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribe(Postponing(subscriber: subscriber, time: time))
  }

  private struct Postponing<Downstream: Subscriber>: Subscriber {
    let subscriber: Downstream
    let time: VirtualTimeScheduler
    let combineIdentifier = CombineIdentifier()

    func receive(subscription: any Subscription) {
      subscriber.receive(subscription: Postponed(subscription: subscription, time: time))
    }
    func receive(_ input: Downstream.Input) -> Subscribers.Demand { subscriber.receive(input) }
    func receive(completion: Subscribers.Completion<Downstream.Failure>) { subscriber.receive(completion: completion) }
  }

  private struct Postponed: Subscription {
    let subscription: any Subscription
    let time: VirtualTimeScheduler
    let combineIdentifier = CombineIdentifier()

    func request(_ demand: Subscribers.Demand) {
      time.schedule(after: time.now.advanced(by: .milliseconds(1))) { subscription.request(demand) }
    }
    func cancel() { subscription.cancel() }
  }
}
