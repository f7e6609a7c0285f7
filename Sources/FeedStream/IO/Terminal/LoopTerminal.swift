internal import CLibUV
import CLibrary
import Synchronization

extension EventLoop {
  package func openTerminal() throws(SystemError) -> any TerminalPort { try LoopTerminal(on: self) }
}

/// The process's terminal on an event loop: libuv's `uv_tty_t`.
private final class LoopTerminal: TerminalPort {
  private let channel: LoopChannel
  private let loop: EventLoop
  private var isRaw = false

  init(on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    // If standard input isn't a terminal, open the process's controlling terminal.
    let descriptor =
      uv_guess_handle(STDIN_FILENO) == UV_TTY
      ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : System.open("/dev/tty", O_RDWR)
    guard descriptor >= 0 else { throw SystemError("open", "the terminal", code: errno) }
    do throws(SystemError) {
      channel = try LoopChannel(on: loop, to: .unix("the terminal"), uv_tty_t.self) {
        uv_tty_init($0, $1, descriptor, 1)
      }
    } catch {
      System.close(descriptor)
      throw error
    }
  }

  deinit { channel.close() }

  var keys: any ByteChannel { channel }

  private var raw: UnsafeMutablePointer<uv_tty_t> { channel.raw() }

  func setRaw(_ isRaw: Bool) throws(SystemError) {
    guard !channel.isClosed, isRaw != self.isRaw else { return }
    // Count the terminal for as long as its mode may be raw.
    if isRaw {
      TerminalRescue.install
      TerminalRescue.rawCount.add(1, ordering: .relaxed)
    }
    let code = uv_tty_set_mode(raw, isRaw ? UV_TTY_MODE_RAW : UV_TTY_MODE_NORMAL)
    if code == 0 { self.isRaw = isRaw }
    if !self.isRaw { TerminalRescue.rawCount.subtract(1, ordering: .relaxed) }
    guard code == 0 else { throw SystemError("set the mode of", "the terminal", code: code) }
  }

  func setFarewell(_ bytes: Chunk?) {
    var descriptor: Int32 = -1
    let handle: UnsafeMutablePointer<uv_handle_t> = channel.raw()
    guard let bytes, !channel.isClosed, uv_fileno(handle, &descriptor) == 0, let name = ttyname(descriptor) else {
      return TerminalRescue.setFarewell(Chunk(), to: -1)
    }
    TerminalRescue.install
    // Open a separate descriptor, because the keys' descriptor may be read-only. The new one is non-blocking, so that a
    // stalled terminal doesn't keep the process from exiting.
    TerminalRescue.setFarewell(bytes, to: System.open(String(cString: name), O_WRONLY | O_NOCTTY | O_NONBLOCK))
  }

  func currentSize() throws(SystemError) -> TerminalSize {
    var (columns, rows): (Int32, Int32) = (0, 0)
    let code = channel.isClosed ? UV_EBADF.rawValue : uv_tty_get_winsize(raw, &columns, &rows)
    guard code == 0 else { throw SystemError("read the size of", "the terminal", code: code) }
    return TerminalSize(columns: Int(columns), rows: Int(rows))
  }

  func watchSize(_ announce: @escaping () -> Void) throws(SystemError) -> any Cancellable {
    try loop.watchSignal(SIGWINCH, keepsLoopAlive: false, announce)
  }
}

/// Restores the terminal when the process exits or is ended by a signal.
private enum TerminalRescue {
  /// The previous actions of signals, indexed by signal number; by default, the default action. They are written before
  /// any handler runs, and are only read afterwards.
  nonisolated(unsafe) private static let former: UnsafeMutablePointer<sigaction> = {
    let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    former.initialize(repeating: sigaction(), count: 65)
    return former
  }()

  /// The bytes to write to `descriptor` when the process ends. `count` is their number, and is 0 while they are being
  /// changed.
  nonisolated(unsafe) private static let farewell = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
  private static let descriptor = Atomic<Int32>(-1)
  private static let count = Atomic<Int>(0)
  /// The number of terminals in raw mode. To set the mode of another one could stop a background process that a signal
  /// ends.
  static let rawCount = Atomic<Int>(0)
  /// Lets one thread at a time change the farewell, because each loop may have a terminal. The handlers don't use it.
  private static let change = Locked(())

  static func setFarewell(_ bytes: Chunk, to descriptor: Int32) {
    change.withLock { _ in
      count.store(0, ordering: .releasing)
      let former = self.descriptor.load(ordering: .relaxed)
      if former >= 0 { System.close(former) }
      for (index, byte) in bytes.enumerated() { farewell[index] = byte }
      self.descriptor.store(descriptor, ordering: .relaxed)
      count.store(descriptor < 0 ? 0 : bytes.count, ordering: .releasing)
    }
  }

  /// Restores the terminal. Safe in a signal handler, because it makes only system calls.
  private static func restore() {
    let length = count.exchange(0, ordering: .acquiring)
    if length > 0 { _ = write(descriptor.load(ordering: .relaxed), farewell, length) }
    if rawCount.load(ordering: .relaxed) > 0 { uv_tty_reset_mode() }
  }

  static let install: Void = {
    // Initialize the static properties before a handler needs them.
    setFarewell(Chunk(), to: -1)
    rawCount.store(0, ordering: .relaxed)
    atexit { TerminalRescue.restore() }
    var action = sigaction()
    action.sa_flags = Int32(SA_ONSTACK)
    setHandler(&action) { number in
      TerminalRescue.restore()
      sigaction(number, TerminalRescue.former + Int(number), nil)
      raise(number)
    }
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS] {
      if sigaction(number, nil, former + Int(number)) == 0 { sigaction(number, &action, nil) }
    }
    // Skip signals that the process handles itself.
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { FormerAction.replaceDefault(of: number, by: action) }
  }()

  private static func setHandler(_ action: inout sigaction, _ handler: @escaping @convention(c) (Int32) -> Void) {
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
  }
}
