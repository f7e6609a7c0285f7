import CLibrary

/// The signals that the process receives, as a stream.
///
///     Signals.received(SIGINT, SIGTERM, on: loop).prefix(1)
///       .sink { print($0) } receiveValue: { print("stopping: \($0)") }
public enum Signals {
  /// Delivers the number of each signal that arrives, without end. The signals' default actions are not taken.
  ///
  /// Losses: a signal that arrives again before it is requested, or within the same turn of the loop, is delivered
  /// once.
  ///
  /// **Demand:** signals are caught from the first request on. **Failure:** the system's error, for a signal that
  /// cannot be caught (`SIGKILL`, `SIGSTOP`) or does not exist. **Cancellation:** restores the signals' previous
  /// actions. **Policy:** holds one signal of each number.
  ///
  /// - Parameters:
  ///   - numbers: the signals' numbers, such as `SIGINT`.
  ///   - keepsLoopAlive: true to keep the loop running even when it waits only for signals.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public static func received(
    _ numbers: Int32..., keepsLoopAlive: Bool = false, on scheduler: any LoopScheduler
  ) -> Publishers.ReceivedSignals {
    Publishers.ReceivedSignals(numbers: numbers, keepsLoopAlive: keepsLoopAlive, scheduler: scheduler)
  }

  static var terminate: Int32 { SIGTERM }
  static var kill: Int32 { SIGKILL }
  static var user1: Int32 { SIGUSR1 }
}

extension Publishers {
  /// See ``Signals/received(_:keepsLoopAlive:on:)``.
  public struct ReceivedSignals: Publisher, _DeliversAtHome {
    public typealias Output = Int32
    public typealias Failure = SystemError

    let numbers: [Int32]
    let keepsLoopAlive: Bool
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Int32, S.Failure == SystemError {
      let subscription = HintSubscription(ErasedSubscriber(subscriber), on: scheduler) {
        [numbers, keepsLoopAlive, world = scheduler.world("Signals")] subscription throws(SystemError) in
        var watches: [any Cancellable] = []
        for number in numbers {
          let watch = try world.watchSignal(number, keepsLoopAlive: keepsLoopAlive) { [weak subscription] in
            subscription?.add(number)
          }
          watches.append(watch)
        }
        return AnyCancellable { [watches] in for watch in watches { watch.cancel() } }
      }
      subscriber.receive(subscription: subscription)
    }
  }
}

extension EventLoop {
  package func watchSignal(
    _ number: Int32, keepsLoopAlive: Bool, _ announce: @escaping () -> Void
  ) throws(SystemError) -> any Cancellable {
    if !keepsLoopAlive { SubscriptionWatch.isNotWaitedFor() }
    do throws(EventLoopError) {
      return try signal(number, keepsLoopAlive: keepsLoopAlive, announce)
    } catch {
      throw SystemError("watch", "signal \(number)", code: error.errno)
    }
  }
}
