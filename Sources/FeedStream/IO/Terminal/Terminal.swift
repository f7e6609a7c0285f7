/// The process's terminal, with its keys and its size as streams.
///
///     let terminal = try Terminal(on: loop)
///     let keys = terminal.keys.prefix { $0 != .character("q") }
///       .sink { print($0) } receiveValue: { print($0) }
///
/// While keys are read, the terminal is in raw mode: it doesn't echo, and Ctrl-C is a key. The terminal is restored
/// when you stop reading keys, when the process exits, and when a signal ends the process, even in a crash. After
/// `SIGKILL`, `SIGSTOP`, or another signal that isn't handled, the terminal stays in raw mode. Use it only on its
/// scheduler's thread.
public final class Terminal {
  private let port: any TerminalPort
  private let scheduler: any LoopScheduler
  private let connection: Connection

  /// - Parameter scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Throws: when the process has no terminal.
  public init(on scheduler: any LoopScheduler) throws(SystemError) {
    port = try scheduler.world("Terminal").openTerminal()
    self.scheduler = scheduler
    connection = Connection(port.keys, to: .unix("the terminal"))
  }

  /// The pressed keys, until the terminal is closed.
  ///
  /// **Demand:** keys that aren't requested wait in the terminal. **Failure:** the system's error; `EBUSY` for a
  /// second simultaneous subscriber. **Cancellation:** stops reading and leaves raw mode. **Policy:** holds the keys of
  /// one read.
  public var keys: AnyPublisher<TerminalKey, SystemError> {
    Deferred { [self] () -> AnyPublisher<TerminalKey, SystemError> in
      let keys = connection.bytes.framed(by: KeyDecoder())
      // A subscriber that is refused must not change the mode, which is the present reader's.
      guard !connection.users.isRead, !connection.isClosed else { return keys.eraseToAnyPublisher() }
      do throws(SystemError) {
        try port.setRaw(true)
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
      let restoring = Restoring(port)
      return keys.handleEvents(receiveCompletion: { _ in restoring.now() }, receiveCancel: { restoring.now() })
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  /// The bytes to send to the terminal when the process exits or is ended by a signal, even in a crash.
  ///
  /// To undo changes such as a hidden cursor or the alternate screen, set this before you make them, and set it back to
  /// `nil` when you have undone them. The process has one farewell, of at most 4,096 bytes; `nil` by default.
  public var farewell: Chunk? {
    didSet {
      precondition(
        (farewell?.count ?? 0) <= 4096, "Terminal.farewell: more than 4,096 bytes; use a shorter sequence")
      port.setFarewell(farewell)
    }
  }

  /// The terminal's size, now and after each change.
  ///
  /// **Demand:** begins with the first request. **Failure:** the system's error. **Cancellation:** ends the watch.
  /// **Policy:** holds the latest size.
  public var sizes: Publishers.TerminalSizes { Publishers.TerminalSizes(port: port, scheduler: scheduler) }
}

/// Leaves raw mode once: when `now()` is called, or when this object is released.
private final class Restoring {
  private var port: (any TerminalPort)?

  init(_ port: any TerminalPort) { self.port = port }
  deinit { now() }

  func now() { try? port.take()?.setRaw(false) }
}

/// The size of a terminal, in characters.
public struct TerminalSize: Hashable, Sendable {
  public var columns: Int
  public var rows: Int

  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}

/// A terminal, on an event loop or in virtual time. Use it only on its scheduler's thread.
package protocol TerminalPort: AnyObject {
  var keys: any ByteChannel { get }
  func setRaw(_ isRaw: Bool) throws(SystemError)
  /// Sets the bytes to write to the terminal when the process ends.
  func setFarewell(_ bytes: Chunk?)
  func currentSize() throws(SystemError) -> TerminalSize
  /// Calls `announce` when the size has changed, until cancelled.
  func watchSize(_ announce: @escaping () -> Void) throws(SystemError) -> any Cancellable
}

extension Publishers {
  /// See ``Terminal/sizes``.
  public struct TerminalSizes: Publisher, _DeliversAtHome {
    public typealias Output = TerminalSize
    public typealias Failure = SystemError

    let port: any TerminalPort
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == TerminalSize, S.Failure == SystemError {
      let subscription = HintSubscription<TerminalSize>(
        ErasedSubscriber(subscriber), on: scheduler, merging: Self.keepLatest
      ) { [port] subscription throws(SystemError) in
        let watch = try port.watchSize { [weak subscription] in
          if let size = try? port.currentSize() { subscription?.add(size) }
        }
        subscription.add(try port.currentSize())
        return watch
      }
      subscriber.receive(subscription: subscription)
    }

    private static func keepLatest(_ waiting: inout [TerminalSize], _ size: TerminalSize) { waiting = [size] }
  }
}
