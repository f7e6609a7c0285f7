import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import Logging

/// One run of a command: its loop, its output, and its completion.
///
/// After an interrupt (Ctrl-C) or a termination signal, the session ends the stream immediately, but waits for
/// requested saves. After a second signal, unless it is a hangup, it doesn't wait for them.
final class Session {
  let loop: EventLoop
  let console: Console
  let log: Logger
  let outputStyle: Style
  private(set) var output: Output!
  /// The cache, if the session saves feeds; saves are completed when the session is stopped.
  var cache: FeedCache?
  /// The file of that cache.
  var store: SQLiteFeedStore?
  private var status: Int32 = 0
  /// True after the first signal, or after Ctrl-C was typed in `browse`, which reads it as a key.
  private var isInterrupted = false
  /// True once a signal, or an output that can't be written, stops the session.
  private var isStopping = false
  /// The command that runs on items, if there is one. It is terminated when the session is stopped.
  var command: ItemCommand?
  /// Stops the command's own work when the session is stopped, and then calls back. Nothing is cancelled before that.
  var stopping: ((@escaping () -> Void) -> Void)?
  /// Called by ``leave()`` instead of leaving the loop, while a stopped command completes its own work.
  var ended: (() -> Void)?
  /// Delivers a value for each hangup (SIGHUP) after which the command continues and reads its lists again.
  let hangups = PassthroughSubject<Void, Never>()
  private let hadTerminal = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1
  private var endings: [() -> Void] = []
  /// True after a stop, when no important work is left.
  private var isOver = false
  private var running: [any Cancellable] = []
  /// The work that the session waits for, and the action that waits for it.
  private var awaited: AnyCancellable?
  private var afterAwaited: (() -> Void)?
  private var watches: [any Cancellable] = []

  /// - Parameter format: the format of messages on standard error.
  init(verbose: Bool = false, quiet: Bool = false, format: LogFormat = .text) {
    StandardError.shared.format = format
    if format == .json { StreamReports.begin() }
    Self.prepareDescriptors()
    Self.requireDescriptors()
    loop = EventLoop()
    // Log lines and a status line would overwrite each other.
    console =
      switch format {
      case .json:
        Console(style: .plain, showsStatus: false, isQuiet: quiet, log: { StandardError.shared.report($0, $1) })
      case .text where verbose || quiet: Console(showsStatus: false, isQuiet: quiet)
      case .text: Console()
      }
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
    // There is a map only if FEEDSTREAM_MAP is `on`.
    if StreamDiagnostics.hasMap {
      let logging: ((StreamMap) -> Void)? = format == .json ? { StreamReports.log($0) } : nil
      watches.append(StreamDiagnostics.printMapOnSignal(on: loop, logging))
    }
    if console.showsStatus, let watch = try? loop.signal(SIGWINCH, { [console] in console.resized() }) {
      watches.append(watch)
    }
  }

  /// A session with the messages that a command's options select.
  convenience init(_ log: LogOptions, quiet: Bool = false) {
    self.init(verbose: log.verbose, quiet: quiet, format: log.logFormat)
  }

  /// A session with the messages that a command's options select.
  convenience init(_ common: CommonOptions) { self.init(common.log, quiet: common.quiet) }

  /// Handles a hangup (SIGHUP) like an interrupt. If the command reads lists, it continues and announces the hangup in
  /// ``hangups`` instead, unless the terminal is gone.
  func takeHangups(readingLists: Bool) {
    // `nohup` ignores the signal.
    if !readingLists, Self.isIgnored(SIGHUP) { return }
    do {
      let watch = try loop.signal(SIGHUP) { [unowned self] in
        let isGone = hadTerminal && isatty(STDIN_FILENO) == 0 && isatty(STDERR_FILENO) == 0
        if !readingLists || isGone { interrupted(by: SIGHUP) } else { hangups.send(()) }
      }
      watches.append(watch)
    } catch {
      console.warn("\(error)")
    }
  }

  /// Keeps `helper` until the stream completes or is stopped.
  func keep(_ helper: any Cancellable) { running.append(helper) }

  /// Runs short work that must complete before the session ends, even if the stream has failed or is stopped.
  func waitFor<P: Publisher>(_ work: P) where P.Failure == Never {
    awaited = AnyCancellable {}
    let subscription = work.sink { [unowned self] _ in
      awaited = nil
      afterAwaited.take()?()
    } receiveValue: { _ in
    }
    if awaited != nil { awaited = subscription }
  }

  /// Ends the stream as if it had completed by itself.
  func end() {
    output.stop()
    endHelpers()
  }

  /// Reports a failure of the command.
  func fail(_ text: String) {
    console.fail(text)
    fail()
  }

  /// Runs `action` before the session leaves the loop.
  func atEnd(_ action: @escaping () -> Void) { endings.append(action) }

  /// Leaves the loop, even if something keeps it running; the exit status is the signal's, if there was one.
  func leave() {
    if let ended = ended.take() { return ended() }
    endHelpers()
    loop.stop()
  }

  /// Sets the status of a failure that was already reported, unless a signal has ended the command. A signal's status
  /// counts as the first signal.
  func fail(with status: Int32 = ExitCode.failure.rawValue) {
    if status > 128 || self.status <= 128 { self.status = status }
    if status > 128 { isInterrupted = true }
  }

  /// Runs until no work is left, then exits with the right status.
  func finish(closing store: SQLiteFeedStore? = nil) throws { try finish { store?.close() } }

  /// Runs until no work is left, then calls `close`, and exits with the right status.
  func finish(closing close: () -> Void) throws {
    let reader = output.watchReader()
    loop.run()
    for ending in endings { ending() }
    close()
    // `exit` would wait for libuv's threads.
    if isOver { _exit(status) }
    reader?.cancel()
    for watch in watches { watch.cancel() }
    loop.close()
    if status != 0 { throw ExitCode(status) }
  }
}

extension Session {
  private func interrupted(by number: Int32) {
    // After a second signal, don't wait for the disk. `exit` would wait for libuv's threads, too.
    if isInterrupted {
      // When a terminal is closed, both the shell and the kernel send a hangup.
      if number == SIGHUP { return }
      command?.kill()
      awaited?.cancel()
      _exit(128 + number)
    }
    isInterrupted = true
    log.debug("interrupted; finishing saves", metadata: ["signal": "\(number)"])
    // If the output has ended, the command already completes its running work.
    if isStopping { status = 128 + number } else { stop(128 + number) }
  }

  private func outputEnded(_ end: Output.End) {
    // After a signal, a command completes its running work, whatever happens to its output.
    switch end {
    case .closed: if !isStopping { stop(128 + SIGPIPE) }
    case .failed(let code):
      let reason = String(cString: strerror(code))
      if isStopping { status = ExitCode.failure.rawValue } else { stop(ExitCode.failure.rawValue) }
      console.fail("cannot write to standard output: \(reason)")
    }
  }

  private func stop(_ status: Int32) {
    self.status = status
    isStopping = true
    if let stopping = stopping.take() {
      output.stopWaiting(after: Self.patience)
      // The output may fail in the meantime, or another signal may arrive.
      return stopping { [self] in stop(self.status) }
    }
    output.stop()
    endHelpers()
    let end = { [self] in
      isOver = true
      loop.stop()
    }
    let awaiting = { [self] in
      if awaited == nil { end() } else { afterAwaited = end }
    }
    let over = { [self] in
      // Don't wait for decoding to finish: a feed of 32 MiB takes seconds.
      if let cache { cache.whenIdle(awaiting) } else { awaiting() }
    }
    if let command { command.stop(then: { over() }) } else { over() }
  }

  func endHelpers() {
    let ending = running
    running = []
    for one in ending { one.cancel() }
    console.setStatus("")
  }

  /// How long a stopped command that completes its own work waits for the reader of its output.
  private static let patience = Duration.seconds(1)
}
