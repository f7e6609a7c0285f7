// This file is empty without the `NIO` trait, which adds SwiftNIO as a dependency.
#if NIO
  public import FeedStream
  public import NIOCore
  import Synchronization

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
    /// Subscribes immediately, requests everything, as `first()` does, and cancels when the first value arrives. The
    /// value may arrive on any thread.
    public func firstValue(on eventLoop: any NIOCore.EventLoop) -> EventLoopFuture<Output?> {
      let promise = eventLoop.makePromise(of: Output?.self)
      let subscription = Kept()
      let sink = first().sink { completion in
        switch completion {
        // This has no effect after a value.
        case .finished: promise.succeed(nil)
        case .failure(let error): promise.fail(error)
        }
        subscription.end()
      } receiveValue: { value in
        promise.succeed(value)
      }
      subscription.keep(sink)
      return promise.futureResult
    }
  }

  /// Retains a subscription until its stream completes. The stream may complete on another thread before the
  /// subscription is kept.
  private final class Kept: Sendable {
    private enum State {
      case open, ended
      case kept(Released)
    }

    /// A subscription whose stream has completed when it is released.
    // @unchecked: only released, and releasing the subscription of a completed stream is safe on any thread.
    private struct Released: @unchecked Sendable { let subscription: AnyCancellable }

    private let state = Mutex(State.open)

    func keep(_ subscription: AnyCancellable) {
      let kept = Released(subscription: subscription)
      state.withLock { if case .open = $0 { $0 = .kept(kept) } }
    }

    func end() {
      // Release the subscription after unlocking, because releasing it runs other code.
      let last = state.withLock { state in
        let last = state
        state = .ended
        return last
      }
      withExtendedLifetime(last) {}
    }
  }
#endif
