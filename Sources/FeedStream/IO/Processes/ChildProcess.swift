/// A running program, on an event loop or in virtual time. Use it only on its scheduler's thread.
package protocol ChildProcess: AnyObject {
  var number: Int32 { get }
  /// The parent's end of the standard stream; `nil` if the stream isn't a pipe.
  var input: (any ByteChannel)? { get }
  var output: (any ByteChannel)? { get }
  var errors: (any ByteChannel)? { get }
  /// Called once, later, when the program has ended. The process is reaped even if this isn't set.
  var onExit: ((ExitStatus) -> Void)? { get set }

  /// Sends a signal to the program; does nothing if the program has ended.
  func send(_ signal: Int32)
}
