public import FeedStream

/// The programs that can be run in virtual time. Each is a closure.
///
/// The folder in which a program is started must exist in the virtual files. Without a pipe, the program's input ends
/// immediately, and its output is dropped, even if the stream is inherited.
///
///     time.programs["upper"] = { program in
///       program.input.utf8Text().map { Chunk($0.uppercased()) }
///         .write(to: program.output)
///         .sink(receiveCompletion: { _ in program.exit() }, receiveValue: { _ in })
///         .store(in: &program.work)
///     }
public final class VirtualPrograms {
  /// Called when the program is started.
  public typealias Script = (VirtualProgram) -> Void

  private unowned let time: VirtualTimeScheduler
  private var scripts: [String: Script] = [:]
  /// The programs that have been started and have not ended.
  public private(set) var running: [VirtualProgram] = []
  private var count: Int32 = 1_000

  init(_ time: VirtualTimeScheduler) { self.time = time }

  /// The script of a program; `nil` if there is none with that name.
  public subscript(name: String) -> Script? {
    get { scripts[name] }
    set { scripts[name] = newValue }
  }

  func start(_ subprocess: Subprocess) throws(SystemError) -> any ChildProcess {
    try subprocess.checkTexts()
    guard let script = scripts[subprocess.program] else {
      throw SystemError("start", subprocess.program, code: 2)  // ENOENT
    }
    if let folder = subprocess.folder { try time.files.requireFolder(folder, "start \(subprocess.program) in") }
    count += 1
    let program = VirtualProgram(subprocess, count, time)
    running.append(program)
    program.onEnd = { [weak self] in self?.running.removeAll { $0 === program } }
    time.schedule { script(program) }
    return program.child
  }
}

/// A program that runs in virtual time, for use by its script.
public final class VirtualProgram {
  /// The options with which the program was started.
  public let subprocess: Subprocess
  /// The script's subscriptions; cancelled when the program ends.
  public var work: Set<AnyCancellable> = []
  /// Called with each signal that the program receives. If this is `nil`, any signal ends the program. `SIGKILL` always
  /// does.
  public var onSignal: ((Int32) -> Void)?
  /// The signals that the program has received.
  public private(set) var signals: [Int32] = []
  /// The program's ends of its standard streams.
  private let streams: [Connection]
  let child: VirtualChild
  // Weak, because a test may keep the program longer than the scheduler.
  private weak var time: VirtualTimeScheduler?
  fileprivate var onEnd: (() -> Void)?
  private var hasEnded = false

  init(_ subprocess: Subprocess, _ number: Int32, _ time: VirtualTimeScheduler) {
    self.subprocess = subprocess
    self.time = time
    let name = SocketAddress.unix(subprocess.program)
    var outer: [VirtualChannel?] = []
    var inner: [Connection] = []
    for stream in [subprocess.standardInput, subprocess.standardOutput, subprocess.standardErrors] {
      let (near, far) = VirtualChannel.pair(time, client: name, server: name, VirtualInternet.Link())
      inner.append(Connection(far, to: name))
      outer.append(stream == .pipe ? near : nil)
      // Without a pipe, the input ends immediately, and output is read and dropped.
      if stream != .pipe, inner.count == 1 { near.close() }
      if stream != .pipe, inner.count > 1 { near.startReading { _ in } }
      sinks.append(near)
    }
    streams = inner
    child = VirtualChild(number, outer)
    child.onSignal = { [weak self] in self?.receive($0) }
  }

  /// The other ends of the streams, which are retained while the program runs.
  private var sinks: [VirtualChannel] = []

  /// The bytes written to the program's standard input.
  public var input: Publishers.ConnectionBytes { streams[0].bytes }
  /// The program's standard output.
  public var output: Connection { streams[1] }
  /// The program's standard error.
  public var errors: Connection { streams[2] }

  /// Writes text to the standard output, after the text of earlier calls. While it is being written, another publisher
  /// that writes to ``output`` fails with `EBUSY`.
  public func print(_ text: String) {
    guard !hasEnded else { return }
    printed.append(Chunk(text))
    writePrinted()
  }

  /// Text that waits until the text before it is written.
  private var printed: [Chunk] = []
  private var printing: AnyCancellable?
  private var isHandlingSignal = false
  /// Called when all text is written.
  private var whenPrinted: (() -> Void)?

  private func writePrinted() {
    guard printing == nil else { return }
    guard !printed.isEmpty else {
      whenPrinted.take()?()
      return
    }
    let chunks = printed
    printed = []
    var isOver = false
    let writing = chunks.publisher.write(to: output).sink { [weak self] _ in
      isOver = true
      self?.printing = nil
      self?.writePrinted()
    } receiveValue: { _ in
    }
    if !isOver { printing = writing }
  }

  /// Ends the program: its streams complete when the bytes written to them have arrived. A program that exits by itself
  /// first waits until its ``print(_:)``ed text is read.
  public func exit(_ status: ExitStatus = .exited(0)) {
    // A program that gets a signal while its text waits to be read may decide not to wait.
    if isHandlingSignal, whenPrinted.take() != nil { return leave(status) }
    guard !hasEnded else { return }
    hasEnded = true
    if case .exited = status, printing != nil {
      whenPrinted = { [unowned self] in leave(status) }
    } else {
      leave(status)
    }
  }

  private func leave(_ status: ExitStatus) {
    printed = []
    // Wait for the next turn, when the bytes that are being written are in the pipes.
    time?.schedule { [self] in
      printing = nil
      work = []
      for stream in streams { stream.close() }
      sinks = []
      onEnd?()
      onEnd = nil
      let onExit = child.onExit
      child.onExit = nil
      onExit?(status)
    }
  }

  private func receive(_ signal: Int32) {
    // The null signal only asks if the program is running. One that waits for its text to be read still gets signals.
    guard signal != 0, !hasEnded || whenPrinted != nil else { return }
    signals.append(signal)
    if signal != 9, let onSignal {
      isHandlingSignal = true
      defer { isHandlingSignal = false }
      return onSignal(signal)
    }
    guard hasEnded else { return exit(.signaled(signal)) }
    whenPrinted = nil
    leave(.signaled(signal))
  }
}

/// A program that runs in virtual time, as its parent sees it.
final class VirtualChild: ChildProcess {
  let number: Int32
  let input: (any ByteChannel)?
  let output: (any ByteChannel)?
  let errors: (any ByteChannel)?
  var onExit: ((ExitStatus) -> Void)?
  var onSignal: ((Int32) -> Void)?

  init(_ number: Int32, _ streams: [VirtualChannel?]) {
    self.number = number
    (input, output, errors) = (streams[0], streams[1], streams[2])
  }

  func send(_ signal: Int32) { onSignal?(signal) }
}
