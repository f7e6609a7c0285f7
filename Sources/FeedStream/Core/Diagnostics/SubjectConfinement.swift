#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Checks that a subject stays where it was first touched (`CONTRACT.md`, rule 1), in release builds as well: on one
/// thread, or in one domain, whose thread may change.
///
/// Code of a task is not checked: the compiler does that, and a task changes threads.
@usableFromInline struct SubjectConfinement {
  /// The thread that touched the subject last; 0 before the first.
  @usableFromInline var thread: UInt = 0
  /// The domain in which it was first touched.
  private var home: ObjectIdentifier?
  /// True when it was first touched by a task, which may go on elsewhere.
  private var isOfTask = false

  @usableFromInline init() {}

  @inlinable @inline(__always) mutating func check(_ name: @autoclosure () -> StaticString) {
    if thread != currentThread() { moved(name()) }
  }

  @inline(never) @usableFromInline mutating func moved(_ name: StaticString) {
    let domain = CurrentDomain.get().map { ObjectIdentifier($0) }
    let isFirst = thread == 0
    thread = currentThread()
    let isInTask = withUnsafeCurrentTask { $0 != nil }
    if isFirst {
      home = domain
      isOfTask = isInTask
      return
    }
    if domain == home, domain != nil || isOfTask || isInTask { return }
    if isOfTask, home == nil {
      // A task may build a stream for a loop, and give it away.
      home = domain
      isOfTask = isInTask
      return
    }
    preconditionFailure(
      """
      \(name): touched on another thread than before (CONTRACT, rule 1: a stream lives on one thread). Send by \
      subject.sender(on: loop), which any thread may use, take values off the loop by publisher.values, or build the \
      stream in loop.execute { }.
      """)
  }
}

/// The calling thread, never 0.
@inlinable @inline(__always) func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
