import FeedStream
import Foundation
import TestSupport

/// A subscriber that requests values as its test decides.
final class Puller<Output, Failure: Error> {
  var values: [Output] = []
  var completion: Subscribers.Completion<Failure>?
  private var subscription: (any Subscription)?

  init(_ publisher: some Publisher<Output, Failure>) {
    publisher.subscribe(
      AnySubscriber(
        receiveSubscription: { [unowned self] in subscription = $0 },
        receiveValue: { [unowned self] in
          values.append($0)
          return .none
        },
        receiveCompletion: { [unowned self] in completion = $0 }))
  }

  func request(_ count: Int) { subscription?.request(.max(count)) }
  func cancel() { subscription?.cancel() }
}

extension TemporaryFolder {
  func callAsFunction(_ name: String) -> String { file(name) }

  /// The text of a file; `nil` when there is no such file.
  func text(_ name: String) -> String? { try? String(contentsOfFile: self(name), encoding: .utf8) }

  func write(_ text: String, to name: String) { try! Data(text.utf8).write(to: URL(filePath: self(name))) }

  func append(_ text: String, to name: String) {
    let file = FileHandle(forWritingAtPath: self(name))!
    file.seekToEndOfFile()
    file.write(Data(text.utf8))
    try! file.close()
  }

  var names: [String] { try! contents }
}

extension EventLoop {
  /// Runs for a given time, for streams that don't complete by themselves.
  func run(for time: StreamInstant.Stride) {
    let timer = LoopTimer(on: self) { self.stop() }
    timer.start(after: time)
    run(.untilStopped)
    timer.close()
  }

  /// Runs until a condition holds, for at most ten seconds.
  func run(until isDone: @escaping () -> Bool) {
    let deadline = now.advanced(by: .seconds(10))
    let look = schedule(after: now, interval: .milliseconds(2), tolerance: .zero, options: nil) {
      if isDone() || self.now > deadline { self.stop() }
    }
    run(.untilStopped)
    look.cancel()
  }
}
