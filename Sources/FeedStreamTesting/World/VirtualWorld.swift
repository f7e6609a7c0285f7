import FeedStream

/// The world outside a program, in virtual time: a network, files, programs, signals and a terminal that a test
/// controls.
///
///     withVirtualTime { time in
///       time.network.link.latency = .milliseconds(20)
///       time.files["/var/log/app.log"] = "started\n"
///       time.programs["date"] = { $0.print("today\n") }
///       let date = Subprocess("date").output(on: time)
///         .sink { print($0) } receiveValue: { print($0) }
///       time.run()
///       date.cancel()
///     }
///
/// Code for any `LoopScheduler` uses this world through the same API as with an `EventLoop`: `Listener`,
/// `Connection.connect`, `File`, `Subprocess` and so on. The real system is not touched.
final class VirtualWorld {
  let network: VirtualInternet
  let files: VirtualFiles
  let programs: VirtualPrograms
  let terminal: VirtualTerminal
  let standardStreams: VirtualStandardStreams
  var signalWatches: [Int: (number: Int32, announce: () -> Void)] = [:]
  var watchCount = 0
  var random = SeededGenerator(seed: 1)

  init(_ time: VirtualTimeScheduler) {
    network = VirtualInternet(time)
    files = VirtualFiles(time)
    programs = VirtualPrograms(time)
    terminal = VirtualTerminal(time)
    standardStreams = VirtualStandardStreams(time)
  }
}

extension VirtualTimeScheduler {
  var world: VirtualWorld {
    if let world = attachment { return unsafeDowncast(world, to: VirtualWorld.self) }
    let world = VirtualWorld(self)
    attachment = world
    return world
  }

  /// The network in virtual time, initially without listeners.
  public var network: VirtualInternet { world.network }

  /// The files in virtual time; initially, there are none.
  public var files: VirtualFiles { world.files }

  /// The programs that can be run in virtual time; initially, there are none.
  public var programs: VirtualPrograms { world.programs }

  /// The terminal in virtual time.
  public var terminal: VirtualTerminal { world.terminal }

  /// The standard streams of the process, as the test sees them.
  public var standardStreams: VirtualStandardStreams { world.standardStreams }

  /// Sends a signal to the process. Its watchers are informed in the order in which they began to watch.
  ///
  /// - Returns: true if the signal is being watched; otherwise, its default action would be taken.
  @discardableResult public func raise(_ signal: Int32) -> Bool {
    let watches = world.signalWatches.sorted { $0.key < $1.key }.map(\.value).filter { $0.number == signal }
    for watch in watches { schedule { watch.announce() } }
    return !watches.isEmpty
  }
}

extension VirtualTimeScheduler: IOHost {
  package func listen(
    at address: SocketAddress, backlog: Int, port: PortSharing
  ) throws(SystemError) -> any ListeningSocket {
    try network.listen(at: address, backlog: backlog, port)
  }

  package func connect(
    to address: SocketAddress, _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) -> any Cancellable {
    network.connect(to: address, done)
  }

  package func lookUp(
    _ host: String, port: Int, _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void
  ) -> any Cancellable {
    network.lookUp(host, port, done)
  }

  package func openDatagrams(at address: SocketAddress) throws(SystemError) -> any DatagramPort {
    try network.openDatagrams(at: address)
  }

  package var fileSystem: any FileSystem { files }

  package func watch(
    _ folder: String, _ announce: @escaping (FolderHint) -> Void
  ) throws(SystemError) -> any Cancellable {
    try files.watch(folder, announce)
  }

  package func spawn(_ subprocess: Subprocess) throws(SystemError) -> any ChildProcess {
    try programs.start(subprocess)
  }

  package func standardStream(_ number: Int32) throws(SystemError) -> StandardChannel {
    standardStreams.channel(number)
  }

  package func openTerminal() throws(SystemError) -> any TerminalPort { terminal }

  package func watchSignal(
    _ number: Int32, keepsLoopAlive: Bool, _ announce: @escaping () -> Void
  ) throws(SystemError) -> any Cancellable {
    // Refuse SIGKILL and SIGSTOP (by their numbers on Linux), and numbers that aren't signals.
    guard (1...64).contains(number), number != 9, number != 19 else {
      throw SystemError("watch", "signal \(number)", code: 22)
    }
    let world = world
    world.watchCount += 1
    let key = world.watchCount
    world.signalWatches[key] = (number, announce)
    return AnyCancellable { [weak world] in world?.signalWatches[key] = nil }
  }

  package var randomBytes: ByteMaker {
    // Safe, because everything in virtual time runs on one thread.
    nonisolated(unsafe) let world = world
    return { room in
      for index in room.indices { room[index] = UInt8(truncatingIfNeeded: world.random.next()) }
      return nil
    }
  }
}

/// Schedules work for a later time.
extension VirtualTimeScheduler {
  func after(_ delay: StreamInstant.Stride, _ name: String, _ action: @escaping () -> Void) -> any Cancellable {
    alarm(at: now.advanced(by: delay), OriginNote(named: name), action)
  }
}
