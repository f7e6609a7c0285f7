import Synchronization

/// Event loops that use several cores: each runs on its own thread, and all start and shut down together.
///
///     let group = try EventLoopGroup()
///     images.parallelMap(on: group) { thumbnail(of: $0) }
///       .sink { show($0) }
///
/// Each stream still lives on one loop, without locks. Values cross between loops only through these operators:
/// ``Publisher/parallelMap(on:width:limit:ordering:_:)``, ``Publisher/parallel(on:width:limit:_:)`` and
/// ``Publisher/receive(on:)``.
///
/// Releasing a group shuts it down, too, as it does an ``EventLoopThread``. A stream that computes on a group retains
/// the group until the stream completes or is cancelled.
public final class EventLoopGroup: Sendable {
  /// The way in which ``next(_:)`` chooses a loop.
  public enum Choice: Hashable, Sendable {
    /// Each loop in turn.
    case roundRobin
    /// The loop with the least work from ``Publisher/parallelMap(on:width:limit:ordering:_:)`` and
    /// ``Publisher/parallel(on:width:limit:_:)``; if several loops have equally little work, the next of them in turn.
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
  ///   - name: the threads' name in debuggers, followed by a number; Linux keeps at most 15 bytes in total.
  ///   - isPinned: true to pin each thread to one processor. If the kernel refuses, the threads are not pinned.
  /// - Throws: if the system has no threads left; threads that were already started are shut down first.
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

  /// Makes a group of domains that are not event loops, for virtual time.
  package init(of domains: [any StreamDomain]) {
    threads = []
    loops = []
    rails = domains.map { Rail($0) }
  }

  /// The number of processors that this process may use: the number in its affinity mask, or its control group's quota
  /// rounded up, whichever is less.
  public static var availableProcessors: Int { Processors.available }

  /// The number of loops.
  public var count: Int { rails.count }

  /// The loop for the next piece of work. Safe to use from any thread.
  public func next(_ choice: Choice = .roundRobin) -> EventLoop {
    precondition(
      !loops.isEmpty,
      "EventLoopGroup.next: a group in virtual time has no event loops; use an operator such as parallelMap(on:)")
    return loops[nextIndex(choice)]
  }

  /// Stops all loops, closes them and waits for their threads to end. Idempotent.
  ///
  /// Cancel the subscriptions that use the group first. Otherwise, a running `parallelMap` drops and reports the values
  /// that it has sent to the loops, and finishes without their results.
  ///
  /// - Precondition: the calling code doesn't run on the thread of one of the group's loops.
  public func shutdown() {
    precondition(
      !loops.contains(where: \.isHere),
      "EventLoopGroup.shutdown: called on a loop that it waits for; call it on another thread")
    for loop in loops { loop.stop() }
    for thread in threads { thread.shutdown() }
  }

  /// Shuts down on a separate thread, for callers that must not block.
  package func shutdown(_ ended: @escaping @Sendable () -> Void) {
    let work: @Sendable () -> Void = { [self] in
      shutdown()
      ended()
    }
    // If the system has no threads left, blocking is better than not shutting down.
    do throws(EventLoopError) { try Thread(name: "shutdown", work).detach() } catch { work() }
  }

  /// At most `width` rails, starting with the one that has the least work.
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
  /// One loop of a group, and the amount of work that it has.
  final class Rail: Sendable {
    let domain: any StreamDomain
    /// The number of pieces of work that are in transit to the loop or running there.
    let load = Atomic(0)

    init(_ domain: any StreamDomain) { self.domain = domain }
  }
}
