#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that streams live on: an event loop, or virtual time in its place.
package protocol StreamDomain: AnyObject, Sendable {
  /// Whether the calling thread may touch what lives here.
  var isHere: Bool { get }

  /// Runs `action` here, later. Safe from any thread.
  func execute(_ action: @escaping @Sendable () -> Void)

  /// Where the tasks run that an operator starts; `nil` for the global pool.
  var taskExecutor: (any TaskExecutor)? { get }

  /// Keeps the thread's loop running until as many calls of `stopWaiting()`: a live stream waits for something. Here only.
  func beginWaiting()
  func stopWaiting()

  /// Has `action` run when the domain closes for good, or not any more. Here only.
  func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?)
}

extension StreamDomain {
  package var taskExecutor: (any TaskExecutor)? { nil }
  package func beginWaiting() {}
  package func stopWaiting() {}
  package func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) {}
}

/// Holds a stream to the domain that first touched it (`CONTRACT.md`, rule 1). Costs nothing in release builds.
///
/// A stream that is only ever touched outside of a running domain is not held to anything: whoever builds a chain without
/// a loop knows its threads.
@usableFromInline struct Confinement {
  #if DEBUG
    // Weak: whether something may be touched must not decide how long its loop lives.
    private weak var home: (any StreamDomain)?

    @usableFromInline init() { home = CurrentDomain.get() }

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
    @inlinable @inline(__always) func check(_ touched: @autoclosure () -> some CustomStringConvertible) {}
  #endif
}

/// Which domain the calling thread is running.
package enum CurrentDomain {
  // Written once, by its initializer. The slot is reached through functions the optimizer cannot look into: after a
  // suspension a task may go on in another thread, where a remembered address of a thread-local would be wrong.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    precondition(code == 0, "FeedStream: the process has no thread-local slot left; release some of them")
    return key
  }()

  @inline(never) package static func get() -> (any StreamDomain)? {
    pthread_getspecific(key).map { Unmanaged<Token>.fromOpaque($0).takeUnretainedValue().domain }
  }

  /// The calling thread runs `domain` from now on.
  ///
  /// - Returns: what ``leave(_:)`` takes, to go back to what the thread ran before.
  package static func enter(_ domain: any StreamDomain) -> UnsafeMutableRawPointer? { enter(Token(domain)) }

  /// The same, for a domain that enters so often that it keeps its pass.
  package static func enter(_ pass: Token) -> UnsafeMutableRawPointer? {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passRetained(pass).toOpaque())
    return outer
  }

  package static func leave(_ outer: UnsafeMutableRawPointer?) {
    let inner = pthread_getspecific(key)
    pthread_setspecific(key, outer)
    inner.map { Unmanaged<Token>.fromOpaque($0).release() }
  }

  /// What a thread has at hand of the domain that it runs. Does not keep the domain, which is there as long as it runs.
  package final class Token: Sendable {
    fileprivate unowned let domain: any StreamDomain
    package init(_ domain: any StreamDomain) { self.domain = domain }
  }
}
