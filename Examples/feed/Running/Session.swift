import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import Logging

/// One run of a command: its loop, what it writes, and how it ends.
///
/// An interrupt (Ctrl-C) or termination ends the stream immediately; saves that were asked for are completed first. A
/// second one does not wait for them.
final class Session {
  let loop: EventLoop
  let console: Console
  let log: Logger
  let outputStyle: Style
  private(set) var output: Output!
  /// What saves, if the session does: it is completed when the session is stopped.
  var cache: FeedCache?
  private var status: Int32 = 0
  /// True when it was stopped and nothing that matters is left to do.
  private var isOver = false
  private var running: [any Cancellable] = []
  private var watches: [any Cancellable] = []

  init(verbose: Bool) {
    Self.prepareDescriptors()
    Self.requireDescriptors()
    loop = EventLoop()
    // Log lines and a status line would write over each other.
    console = verbose ? Console(showsStatus: false) : Console()
    outputStyle = .suiting(STDOUT_FILENO)
    var log = Logger(label: "feed") { StandardErrorLogHandler(label: $0) }
    log.logLevel = verbose ? .debug : .critical
    self.log = log
    output = Output(on: loop) { [unowned self] in outputEnded($0) }
    for number in [SIGINT, SIGTERM] {
      do {
        watches.append(try loop.signal(number) { [unowned self] in interrupted(by: number) })
      } catch {
        console.warn("\(error)")
      }
    }
  }

  /// Subscribes standard output to `publisher`.
  ///
  /// - Parameters:
  ///   - text: a value's text, made on the thread pool: that of 100,000 images takes time that the loop cannot spare.
  ///   - ended: told how the stream ended, unless the session was stopped.
  func run<P: Publisher>(
    _ publisher: P, text: @escaping @Sendable (P.Output) -> String,
    ended: @escaping (Subscribers.Completion<P.Failure>) -> Void = { _ in }
  ) where P.Output: Sendable {
    let printer = Printer<[UInt8], P.Failure> { [self] text, done in
      print(text, then: done)
    } ended: { [self] completion in
      endHelpers()
      ended(completion)
    }
    running.append(printer)
    let worker = SerialWorker(on: loop)
    publisher
      .flatMap(maxPublishers: .max(1)) { value in worker.publisher { Array(text(value).utf8) } }
      .subscribe(printer)
  }

  /// Writes to standard output.
  func print(_ text: [UInt8], then: @escaping () -> Void = {}) {
    console.erase()
    output.write(text) { [console] in
      console.draw()
      then()
    }
  }

  /// Keeps `helper` until the stream ends.
  func keep(_ helper: any Cancellable) { running.append(helper) }

  /// Says why the command failed.
  func fail(_ text: String) {
    console.report(text)
    status = ExitCode.failure.rawValue
  }

  /// Runs until there is nothing left to do, then ends as the command has to.
  func finish(closing store: SQLiteFeedStore? = nil) throws {
    let reader = output.watchReader()
    loop.run()
    store?.close()
    // Not `exit`, at which libuv waits for its threads.
    if isOver { _exit(status) }
    reader?.close()
    for watch in watches { watch.cancel() }
    loop.close()
    if status != 0 { throw ExitCode(status) }
  }
}

extension Session {
  private func interrupted(by number: Int32) {
    // Whoever asks twice does not want to wait for the disk: not `exit`, at which libuv waits for its threads.
    if status > 128 { _exit(128 + number) }
    log.debug("interrupted; completing saves", metadata: ["signal": "\(number)"])
    stop(128 + number)
  }

  private func outputEnded(_ end: Output.End) {
    switch end {
    case .closed: stop(128 + SIGPIPE)
    case .failed(let code):
      let reason = String(cString: strerror(code))
      stop(ExitCode.failure.rawValue)
      console.report("\(console.style.bad("Cannot write to standard output:")) \(reason)")
    }
  }

  private func stop(_ status: Int32) {
    self.status = status
    output.stop()
    endHelpers()
    // Decoding that has begun ends unheard; of a feed of 32 MiB it takes seconds, and is not waited for.
    cache?.whenIdle { [self] in
      isOver = true
      loop.stop()
    }
  }

  private func endHelpers() {
    let ending = running
    running = []
    for one in ending { one.cancel() }
    console.setStatus("")
  }

  /// Has failed writes return errors, and leaves no standard descriptor closed, for a file opened later would take its
  /// place and be written to.
  private static func prepareDescriptors() {
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // For reading only: writing to it still fails, as it did.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Ends with a sentence where even the loop could not be made.
  private static func requireDescriptors() {
    // The loop, the cache and a connection take about ten.
    let opened = (0..<16).map { _ in dup(STDERR_FILENO) }
    for descriptor in opened where descriptor >= 0 { close(descriptor) }
    guard opened.contains(-1) else { return }
    StandardError.shared.write("Too few file descriptors are left. Raise the limit (ulimit -n) to 32 or more.\n")
    exit(ExitCode.failure.rawValue)
  }
}
