#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that streams live on: an event loop, or virtual time instead of one.
package protocol StreamDomain: AnyObject, Sendable {
  /// True when the calling thread may use what lives here.
  var isHere: Bool { get }

  /// Runs `action` here, later. Safe from any thread.
  func execute(_ action: @escaping @Sendable () -> Void)

  /// The executor of the tasks that an operator starts; `nil` for the global pool.
  var taskExecutor: (any TaskExecutor)? { get }

  /// Keeps the thread's loop running until `stopWaiting()` has been called as often: a live stream waits for something.
  /// Call it on this thread only.
  func beginWaiting()
  func stopWaiting()

  /// Runs `action` when the domain closes for good; `nil` removes the action. Call it on this thread only.
  func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?)
}

extension StreamDomain {
  package var taskExecutor: (any TaskExecutor)? { nil }
  package func beginWaiting() {}
  package func stopWaiting() {}
  package func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) {}
}

/// Checks that a stream stays in the domain that first used it (`CONTRACT.md`, rule 1). Costs nothing in release
/// builds.
///
/// A stream that is only used outside of a running domain is not checked: code that builds a chain without a loop is
/// responsible for its threads.
@usableFromInline struct Confinement {
  #if DEBUG
    // Weak: a check must not keep the loop alive.
    private weak var home: (any StreamDomain)?

    @usableFromInline init() { home = CurrentDomain.get() }
    init(home: any StreamDomain) { self.home = home }

    /// The stream lives where its subscription is handed down.
    @usableFromInline mutating func follow() { home = CurrentDomain.get() }

    @usableFromInline mutating func check(_ touched: @autoclosure () -> some CustomStringConvertible) {
      guard let home else {
        self.home = CurrentDomain.get()
        return
      }
      precondition(
        home.isHere,
        """
        \(placed(touched())): touched on a thread that does not run its loop (CONTRACT, rule 1: a stream lives on one thread). \
        Send by subject.sender(on: loop), which any thread may use, take values off the loop by publisher.values, or \
        build the stream in loop.execute { }.
        """)
    }
  #else
    @inlinable init() {}
    init(home: any StreamDomain) {}
    @inlinable @inline(__always) func follow() {}
    @inlinable @inline(__always) func check(_ touched: @autoclosure () -> some CustomStringConvertible) {}
  #endif
}

/// Finds the domain that the calling thread is running.
package enum CurrentDomain {
  // Written once, by its initializer. The slot is reached through functions that the optimizer cannot look into: after
  // a suspension a task may continue on another thread, where a cached address of a thread-local would be wrong.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    precondition(code == 0, "FeedStream: the process has no thread-local slot left; release some of them")
    return key
  }()

  @inline(never) package static func get() -> (any StreamDomain)? {
    pthread_getspecific(key).map { Unmanaged<Token>.fromOpaque($0).takeUnretainedValue().domain }
  }

  /// The loop that the calling thread owns and does not run now.
  // Written once, before the first loop exists, by what knows of loops.
  nonisolated(unsafe) static var resting: @Sendable () -> (any StreamDomain)? = { nil }

  /// Makes `domain` the one that the calling thread runs.
  ///
  /// - Returns: the token for ``leave(_:)``, which restores what the thread ran before.
  package static func enter(_ domain: any StreamDomain) -> UnsafeMutableRawPointer? { enter(Token(domain)) }

  /// The same, for a domain that enters so often that it keeps its token.
  package static func enter(_ pass: Token) -> UnsafeMutableRawPointer? {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passRetained(pass).toOpaque())
    return outer
  }

  /// Runs `body` as code of no domain.
  static func outside(_ body: () -> Void) {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, nil)
    body()
    pthread_setspecific(key, outer)
  }

  package static func leave(_ outer: UnsafeMutableRawPointer?) {
    let inner = pthread_getspecific(key)
    pthread_setspecific(key, outer)
    inner.map { Unmanaged<Token>.fromOpaque($0).release() }
  }

  /// Holds what a thread needs of the domain that it runs. Does not retain the domain, which lives as long as it runs.
  package final class Token: Sendable {
    fileprivate unowned let domain: any StreamDomain
    package init(_ domain: any StreamDomain) { self.domain = domain }
  }
}
