/// A program that runs, as an event loop or virtual time has it. Lives on its scheduler's thread.
package protocol ChildProcess: AnyObject {
  var number: Int32 { get }
  /// The other ends of those standard streams that are pipes.
  var input: (any ByteChannel)? { get }
  var output: (any ByteChannel)? { get }
  var errors: (any ByteChannel)? { get }
  /// Called once, later, when it has ended; it is cleaned up after whether this is set or not.
  var onExit: ((ExitStatus) -> Void)? { get set }

  /// Sends it a signal; nothing happens when it has ended.
  func send(_ signal: Int32)
}
