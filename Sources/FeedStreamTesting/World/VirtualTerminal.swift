public import FeedStream

/// The terminal in virtual time: a test presses its keys and changes its size.
public final class VirtualTerminal: TerminalPort {
  private let near: VirtualChannel
  private let far: VirtualChannel
  private unowned let time: VirtualTimeScheduler
  private var watches: [Int: () -> Void] = [:]
  private var count = 0

  /// True in raw mode, in which keys are read as they are pressed.
  public private(set) var isRaw = false

  /// The bytes that would be sent to the terminal if the process ended now.
  public private(set) var farewell: Chunk?

  /// The terminal's size; 80 by 24 by default.
  public var size = TerminalSize(columns: 80, rows: 24) {
    didSet {
      guard isForeground else { return }
      for (_, announce) in watches.sorted(by: { $0.key < $1.key }) { time.schedule { announce() } }
    }
  }

  /// False while the process is in the background, where it isn't told of a new size.
  package var isForeground = true

  init(_ time: VirtualTimeScheduler) {
    self.time = time
    (near, far) = VirtualChannel.pair(
      time, client: .unix("the keyboard"), server: .unix("the terminal"), VirtualInternet.Link())
  }

  /// Presses keys, given as the bytes that a terminal sends.
  public func press(_ bytes: Chunk) { near.write([bytes]) { _ in } }

  package var keys: any ByteChannel { BorrowedChannel(far) }
  package func setRaw(_ isRaw: Bool) throws(SystemError) { self.isRaw = isRaw }
  package func setFarewell(_ bytes: Chunk?) { farewell = bytes }
  package func currentSize() throws(SystemError) -> TerminalSize { size }

  package func watchSize(_ announce: @escaping () -> Void) throws(SystemError) -> any Cancellable {
    count += 1
    let key = count
    watches[key] = announce
    return AnyCancellable { [weak self] in self?.watches[key] = nil }
  }
}

/// The standard streams in virtual time.
public final class VirtualStandardStreams {
  private unowned let time: VirtualTimeScheduler
  private var inner: [Int32: VirtualChannel] = [:]
  private var outer: [Int32: Connection] = [:]
  /// True to run without a standard input.
  public var hasNoInput = false

  init(_ time: VirtualTimeScheduler) { self.time = time }

  /// The test's end of the process's standard input. To end the input, close it, or write with `WriteEnding.closes`.
  public var input: Connection { end(0) }
  /// The test's end of the process's standard output.
  public var output: Connection { end(1) }
  /// The test's end of the process's standard error.
  public var errors: Connection { end(2) }

  private func end(_ number: Int32) -> Connection {
    open(number)
    return outer[number]!
  }

  private func open(_ number: Int32) {
    guard outer[number] == nil else { return }
    let names = ["standard input", "standard output", "standard error"].map { SocketAddress.unix($0) }
    let name = names[Int(number)]
    let (near, far) = VirtualChannel.pair(time, client: name, server: name, VirtualInternet.Link())
    inner[number] = near
    outer[number] = Connection(far, to: name)
  }

  func channel(_ number: Int32) -> StandardChannel {
    if number == 0, hasNoInput { return .nothing }
    open(number)
    // Each use gets a separate object to close, so that the stream stays open.
    return .channel(BorrowedChannel(inner[number]!))
  }
}

/// One use of a channel, which stays open when this object is closed.
private final class BorrowedChannel: ByteChannel {
  private let channel: VirtualChannel
  private var isClosed = false

  init(_ channel: VirtualChannel) { self.channel = channel }

  var peer: SocketAddress { channel.peer }
  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    guard !isClosed else { return }
    channel.startReading(of: ObjectIdentifier(self), deliver)
  }
  func stopReading() { if !isClosed { channel.stopReading(of: ObjectIdentifier(self)) } }
  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    channel.write(chunks, of: ObjectIdentifier(self)) { [weak self] in if self?.isClosed == false { done($0) } }
  }
  func endWriting(_ done: @escaping (SystemError?) -> Void) { if !isClosed { channel.endWriting(done) } }
  func close() {
    guard !isClosed else { return }
    stopReading()
    isClosed = true
    // As in the system, only the bytes arrive that have been accepted.
    channel.dropWrites(of: ObjectIdentifier(self))
  }
}
