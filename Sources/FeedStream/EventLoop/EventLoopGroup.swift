import Synchronization

/// Event loops on their own threads, which start and end together, to use several cores.
///
///     let group = try EventLoopGroup()
///     images.parallelMap(on: group) { thumbnail(of: $0) }
///       .sink { show($0) }
///
/// A stream still lives on one loop and takes no lock. Values cross between loops only through these operators:
/// ``Publisher/parallelMap(on:width:limit:ordering:_:)``, ``Publisher/parallel(on:width:limit:_:)`` and
/// ``Publisher/receive(on:)``.
///
/// Releasing a group shuts it down, too.
public final class EventLoopGroup: Sendable {
  /// The way in which ``next(_:)`` chooses a loop.
  public enum Choice: Hashable, Sendable {
    /// Each loop in turn.
    case roundRobin
    /// The loop with the least work of ``Publisher/parallelMap(on:width:limit:ordering:_:)`` and
    /// ``Publisher/parallel(on:width:limit:_:)``; in turn if several have equally little.
    case leastLoaded
  }

  /// The loops, in the order in which they were started.
  public let loops: [EventLoop]
  let rails: [Rail]
  private let threads: [EventLoopThread]
  private let turn = Atomic(0)

  /// Starts the threads and their loops.
  ///
  /// - Parameters:
  ///   - count: the number of loops, at least one.
  ///   - name: the threads' name in debuggers, followed by a number; Linux keeps 15 bytes of both.
  ///   - isPinned: true to keep each thread on one processor. If the kernel refuses that, it chooses the processors
  ///     itself.
  /// - Throws: if the system has no thread left; the threads that were started have ended.
  public init(
    count: Int = EventLoopGroup.availableProcessors, name: String = "loop", isPinned: Bool = false
  ) throws(EventLoopError) {
    precondition(count > 0, "EventLoopGroup(count: \(count)): nothing could ever run; use 1 or more")
    var threads: [EventLoopThread] = []
    for number in 0..<count {
      threads.append(try EventLoopThread(name: "\(name)-\(number)", processor: isPinned ? number : nil))
    }
    self.threads = threads
    loops = threads.map(\.loop)
    rails = loops.map { Rail($0) }
  }

  /// A group of places that are not loops: virtual ones.
  package init(of domains: [any StreamDomain]) {
    threads = []
    loops = []
    rails = domains.map { Rail($0) }
  }

  /// The number of processors that this process may use: those of its affinity mask, or the quota of its control group
  /// rounded up, whichever is less.
  public static var availableProcessors: Int { Processors.available }

  /// The number of loops.
  public var count: Int { rails.count }

  /// The loop for the next piece of work. Safe from any thread.
  public func next(_ choice: Choice = .roundRobin) -> EventLoop {
    precondition(!loops.isEmpty, "EventLoopGroup.next: a group in virtual time has no event loops; use its operators")
    return loops[nextIndex(choice)]
  }

  /// Stops all loops, closes them and waits for their threads to end. Idempotent.
  ///
  /// - Precondition: not called on a loop of the group.
  public func shutdown() {
    precondition(
      !loops.contains(where: \.isCurrent),
      "EventLoopGroup.shutdown: called on a loop that it waits for; call it on another thread")
    for loop in loops { loop.stop() }
    for thread in threads { thread.shutdown() }
  }

  /// Shuts down on a thread of its own, for callers that must not block.
  package func shutdown(_ ended: @escaping @Sendable () -> Void) {
    let work: @Sendable () -> Void = { [self] in
      shutdown()
      ended()
    }
    // Without threads, blocking is better than no end.
    do throws(EventLoopError) { try Thread(name: "shutdown", work).detach() } catch { work() }
  }

  /// This many of the rails, those with the least work first.
  func rails(_ width: Int?) -> [Rail] {
    guard let width, width < rails.count else { return rails }
    let first = nextIndex(.leastLoaded)
    return (0..<max(1, width)).map { rails[(first + $0) % rails.count] }
  }

  /// The rail for the next piece of work.
  func nextRail() -> Rail { rails[nextIndex(.roundRobin)] }

  private func nextIndex(_ choice: Choice) -> Int {
    let start = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    let first = Int(UInt(bitPattern: start) % UInt(rails.count))
    guard choice == .leastLoaded else { return first }
    let order = (0..<rails.count).map { (first + $0) % rails.count }
    return order.min { rails[$0].load.load(ordering: .relaxed) < rails[$1].load.load(ordering: .relaxed) }!
  }
}

extension EventLoopGroup {
  /// One loop of a group, and the amount of its work.
  final class Rail: Sendable {
    let domain: any StreamDomain
    /// The number of pieces of work in transit to it or running there.
    let load = Atomic(0)

    init(_ domain: any StreamDomain) { self.domain = domain }
  }
}
