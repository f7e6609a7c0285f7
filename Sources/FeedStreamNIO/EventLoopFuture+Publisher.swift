// This file is empty without the `NIO` trait, which adds SwiftNIO as a dependency.
#if NIO
  public import FeedStream
  public import NIOCore

  extension EventLoopFuture where Value: Sendable {
    /// The result of this future, for any number of subscribers.
    ///
    /// The result is delivered where the stream lives: on FeedStream's loop if the stream is set up there, otherwise on
    /// this future's event loop. **Demand:** the value is held until it is requested. **Failure:** the future's.
    /// **Cancellation:** ends the subscription; the future continues.
    public var publisher: Future<Value, any Error> {
      Future { promise in self.whenComplete { promise($0) } }
    }
  }

  extension Publisher where Output: Sendable {
    /// The first value of this publisher as a future of `eventLoop`; `nil` if the publisher finishes without a value.
    ///
    /// Subscribes immediately, requests everything, as `first()` does, and cancels when the first value arrives.
    public func firstValue(on eventLoop: any NIOCore.EventLoop) -> EventLoopFuture<Output?> {
      let promise = eventLoop.makePromise(of: Output?.self)
      let subscription = Kept()
      subscription.value = first().sink { completion in
        switch completion {
        // This has no effect after a value.
        case .finished: promise.succeed(nil)
        case .failure(let error): promise.fail(error)
        }
        subscription.value = nil
      } receiveValue: { value in
        promise.succeed(value)
      }
      if subscription.hasEnded { subscription.value = nil }
      return promise.futureResult
    }
  }

  /// Retains a subscription until its stream completes.
  private final class Kept {
    var hasEnded = false
    var value: AnyCancellable? {
      didSet { if value == nil { hasEnded = true } }
    }
  }
#endif
