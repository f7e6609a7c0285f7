public import FeedStream
public import FeedTLS
import PlainText

/// The reason why a command got no reply or was refused.
// Indirect, so that results stay as small as their values: a result is passed on for each command.
public indirect enum RedisError: Error, Hashable, Sendable {
  /// No connection can be made.
  case unreachable(RedisAddress, SystemError)
  /// The connection ended before the reply: the command may or may not have been executed.
  case closed(RedisAddress)
  /// The server did not reply within this time: the command may or may not have been executed.
  case timedOut(RedisAddress, after: Duration)
  /// The server refused the command.
  case refused(RedisAddress, RedisRefusal)
  /// The server's bytes aren't a valid reply.
  case unreadable(RedisAddress, RESPError)
  /// Too many commands: this many would wait, including the ones that fail now. None of these was sent.
  case tooManyWaiting(RedisAddress, Int)
  /// The connection is not secure, and nothing was sent.
  case notSecure(RedisAddress, TLSError)
  /// This Sentinel doesn't monitor a primary with that name: nothing was sent.
  case noSuchPrimary(RedisAddress, String)
  /// This command has no reply of its own, or several, so replies would reach the wrong commands; or it changes the
  /// login or the database, which the next connection wouldn't know. Nothing was sent.
  case unsupported(String)
  /// The client was closed: a command that had been sent may or may not have been executed.
  case clientClosed
}

extension RedisError {
  /// True if the command may succeed later without any change: try again after a pause. It is true for
  /// ``tooManyWaiting(_:_:)``, but more commands together than ``RedisClient/Options/maxWaiting`` never succeed.
  public var isTemporary: Bool {
    switch self {
    case .unreachable, .closed, .timedOut, .tooManyWaiting: true
    case .noSuchPrimary: false
    case .refused(_, let refusal):
      switch refusal.kind {
      case .loading, .busy, .unavailable, .readOnly, .outOfMemory, .notWritable, .tooManyClients: true
      // Keys in several slots never move into one.
      case .cluster: refusal.code != "CROSSSLOT"
      default: false
      }
    case .notSecure(_, let error): error.isTemporary
    case .unreadable, .unsupported, .clientClosed: false
    }
  }

  /// The refusal, if the error is one.
  public var refusal: RedisRefusal? { if case .refused(_, let refusal) = self { refusal } else { nil } }
}

extension RedisError: CustomStringConvertible {
  // A server may name another one with any bytes as its host.
  /// One sentence about the failure, and one about the remedy if there is one.
  public var description: String { sentences.printable }

  private var sentences: String {
    switch self {
    case .unreachable(let address, let error):
      "\(address) is unreachable: \(error). Start the server, or correct the URL."
    case .closed(let address): "\(address) closed the connection before it replied."
    case .timedOut(let address, let limit):
      "\(address) did not reply within \(limit.text). It may be stopped, or be running a slow script."
    case .refused(let address, let refusal): Self.sentence(address, refusal.shown(without: address.password))
    case .unreadable(let address, let error): "\(address) cannot be used: \(error). Check that it is a Redis server."
    case .tooManyWaiting(let address, let count):
      "\(count) commands would wait for \(address), which is more than maxWaiting. Wait until some have completed, "
        + "send fewer together, or raise maxWaiting."
    case .notSecure(let address, let error):
      "\(address) cannot be used: \(error)." + Self.remedy(for: error)
    case .noSuchPrimary(let address, let name):
      "The Sentinel at \(address) monitors no primary called \(name.printable(limit: 100)). Correct the name in the URL."
    case .unsupported(let name):
      switch name.lowercased() {
      case "auth", "hello", "select":
        "This client doesn't send \(name), which the next connection wouldn't know. Put the user, the password and the "
          + "database in the URL: redis://USER:PASSWORD@host/1."
      case "reset":
        "This client doesn't send \(name), which would log it out. Close it, and make another client."
      default:
        "This client doesn't send \(name), whose replies would reach other commands. For messages, use a stream: XADD "
          + "and entries(of:after:)."
      }
    case .clientClosed: "The Redis client is closed."
    }
  }

  /// Maps a TLS error of the connection to `address`.
  init(_ address: RedisAddress, _ error: TLSError) {
    self = if case .system(let error) = error { .unreachable(address, error) } else { .notSecure(address, error) }
  }

  private static func remedy(for error: TLSError) -> String {
    switch error {
    case .notTLS: " Use redis: instead of rediss:, if the connection need not be secure."
    case .selfSigned: " To do so, set SSL_CERT_FILE to a file that contains it."
    case .untrusted: " To trust the issuer, set SSL_CERT_FILE to a file with its certificate."
    case .timedOut: " If the server doesn't speak TLS, use redis: instead of rediss:."
    default: ""
    }
  }

  private static func sentence(_ address: RedisAddress, _ refusal: RedisRefusal) -> String {
    switch refusal.kind {
    case .readOnly where address.isSentinel:
      "The primary of \(address) is now a read-only replica, and nothing was written. Wait until the Sentinels name the new primary."
    case .readOnly:
      "\(address) is a read-only replica, and nothing was written. Use the URL of the primary."
    case .outOfMemory:
      "\(address) is out of memory, and nothing was written. Raise its maxmemory, or delete keys that aren't needed."
    case .loading: "\(address) has just started and is loading its data. Wait until it is ready."
    case .passwordWanted: "\(address) requires a password. Put it in the URL: \(address.example(password: true))."
    case .wrongPassword:
      "\(address) does not accept the password. Correct the user and the password, or leave them out if the server needs none."
    case .notPermitted: "\(address) does not allow this user to do that: \(refusal.message)"
    case .busy: "A script from another client keeps \(address) busy. Wait until it ends, or run SCRIPT KILL."
    case .cluster where refusal.code == "ASK":
      "\(address) is moving these keys to another node of its cluster (\(refusal)), and nothing was done. Wait until all keys are moved, or run redis-cli --cluster check."
    case .cluster where refusal.code == "CLUSTERDOWN":
      "The cluster that \(address) belongs to is down (\(refusal)), and nothing was done. Wait until it works again, or run redis-cli --cluster check."
    case .cluster where refusal.code == "CROSSSLOT":
      "\(address) is a cluster node, and the command's keys are in several slots (\(refusal)). Use keys in one slot, such as {name}:1 and {name}:2."
    case .cluster:
      "\(address) is a cluster node, and another node has these keys (\(refusal)). Use the URL of that node, or wait until the keys are moved."
    case .notWritable: "\(address) can't write at the moment: \(refusal.message)"
    case .wrongType:
      "A key in \(address) has an unexpected type (\(refusal)), and was left unchanged. Another program wrote it: choose another database, or delete that key."
    case .wrongDatabase: "\(address) has no such database. Correct the number at the end of the URL."
    case .tooManyClients: "\(address) has too many clients. Raise its maxclients."
    case .unknownScript, .unavailable, .other: "\(address) refused the command: \(refusal)"
    }
  }
}

extension TLSError {
  /// True if neither a certificate nor the protocol is at fault.
  fileprivate var isTemporary: Bool {
    switch self {
    case .truncated, .timedOut, .system: true
    default: false
    }
  }
}
