/// A running program, on an event loop or in virtual time. Use it only on its scheduler's thread.
package protocol ChildProcess: AnyObject {
  var number: Int32 { get }
  /// The parent's end of the standard stream; `nil` if the stream isn't a pipe.
  var input: (any ByteChannel)? { get }
  var output: (any ByteChannel)? { get }
  var errors: (any ByteChannel)? { get }
  var sharedMemory: SharedMemory? { get }
  /// Called once, later, when the program has ended. The process is reaped even if this isn't set.
  var onExit: ((ExitStatus) -> Void)? { get set }

  /// Sends a signal to the program; does nothing if the program has ended.
  func send(_ signal: Int32)

  /// Sends a signal to the programs that the program, which has ended, started in its process group.
  ///
  /// - Parameter signal: the signal's number; 0 to send none.
  /// - Returns: false if there are none. Make no more calls then, because the system may use the group's number again.
  func signalDescendants(_ signal: Int32) -> Bool
}

extension ChildProcess {
  package var sharedMemory: SharedMemory? { nil }

  /// False by default, because the program may not be able to start others.
  package func signalDescendants(_ signal: Int32) -> Bool { false }
}
