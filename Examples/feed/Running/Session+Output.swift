import FeedStream
import PlainText

extension Session {
  /// Subscribes standard output to `publisher`.
  ///
  /// - Parameters:
  ///   - text: returns a value's text. Called on the thread pool, because 100,000 images take too long for the loop.
  ///   - written: receives each value when its text is written, and calls back to request the next.
  ///   - ended: receives the completion, unless the session was stopped; `nil` to report a failure.
  func run<P: Publisher>(
    _ publisher: P, text: @escaping @Sendable (P.Output) -> String,
    written: @escaping (P.Output, @escaping () -> Void) -> Void = { $1() },
    ended: ((Subscribers.Completion<P.Failure>) -> Void)? = nil
  ) where P.Output: Sendable {
    run(publisher, bytes: { Array(text($0).utf8) }, written: written, ended: ended)
  }

  /// Subscribes standard output to `publisher`, whose values are written byte for byte.
  func run<P: Publisher>(
    _ publisher: P, bytes: @escaping @Sendable (P.Output) -> [UInt8],
    written: @escaping (P.Output, @escaping () -> Void) -> Void = { $1() },
    ended: ((Subscribers.Completion<P.Failure>) -> Void)? = nil
  ) where P.Output: Sendable {
    let printer = Printer<(text: [UInt8], value: P.Output), P.Failure> { [self] next, done in
      print(next.text) { written(next.value, done) }
    } ended: { [self] completion in
      endHelpers()
      if let ended {
        ended(completion)
      } else if case .failure(let error) = completion {
        fail("\(error)".printable)
      }
    }
    keep(printer)
    let worker = SerialWorker(on: loop)
    // As a signal, a failure waits until the values before it are written.
    publisher.materialize()
      .flatMap(maxPublishers: .max(1)) {
        signal -> AnyPublisher<Signal<(text: [UInt8], value: P.Output), P.Failure>, Never> in
        switch signal {
        case .value(let value):
          worker.publisher { (text: bytes(value), value: value) }.map { .value($0) }.eraseToAnyPublisher()
        case .completion(let completion): Just(.completion(completion)).eraseToAnyPublisher()
        }
      }
      .dematerialize()
      .subscribe(printer)
  }

  /// Writes to standard output.
  func print(_ text: [UInt8], then: @escaping () -> Void = {}) {
    // A status line would damage an image, and a write may take several turns of the loop.
    console.pause()
    output.write(text) { [console] in
      console.resume()
      then()
    }
  }
}
