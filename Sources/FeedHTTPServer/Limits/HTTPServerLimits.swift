public import FeedStream

/// The limits on what a client may send and use. Every limit has a default; see also `docs/Limits.md`.
public struct HTTPServerLimits: Sendable {
  /// The maximum number of open connections. To admit another connection, the server closes the one that has waited
  /// longest for a request, if it has waited at least a second. Otherwise, new connections wait in the system's
  /// backlog.
  public var connections = 4_096
  /// The maximum number of open connections per client address; an IPv6 network with a 64-bit prefix counts as one
  /// client. Any further connection is closed immediately.
  public var connectionsPerAddress = 256
  /// True for addresses that ``connectionsPerAddress`` does not limit, such as the address of a reverse proxy, whose
  /// connections belong to many clients. By default, this is true for the addresses of this machine.
  public var isUnlimited: @Sendable (SocketAddress) -> Bool = { $0.isLocal }
  /// The maximum number of bytes in a request line: method, target and version. Longer lines are rejected with status
  /// 414.
  public var requestLineBytes = 8 * 1024
  /// The maximum number of bytes in all header fields of a request, and in its trailers. Requests with more are
  /// rejected with status 431.
  public var headerBytes = 32 * 1024
  /// The maximum number of header fields. Requests with more are rejected with status 431.
  public var headerCount = 100
  /// The maximum number of bytes in a body. Longer bodies are rejected with status 413.
  public var bodyBytes = 1 << 20
  /// The maximum number of unread body bytes that are discarded to keep the connection open; if there are more, the
  /// connection is closed.
  public var drainedBytes = 64 * 1024
  /// The time that a connection may wait for a request, including the first. After that, it is closed.
  public var idle: StreamInstant.Stride = .seconds(60)
  /// The time that the head of a request may take, from its first byte. After that, the request is rejected with
  /// status 408.
  public var header: StreamInstant.Stride = .seconds(10)
  /// The time for which an awaited body may arrive more slowly than ``bytesPerSecond``. After that, the request is
  /// rejected with status 408.
  public var bodyGrace: StreamInstant.Stride = .seconds(10)
  /// The time that each write of a response may wait for the client, in addition to the time that its bytes take at
  /// ``bytesPerSecond``; also the time that the announcement of a TLS connection's end may wait. After that, the
  /// connection is closed.
  public var writeGrace: StreamInstant.Stride = .seconds(30)
  /// The minimum transfer rate of bodies and responses that are being awaited, in bytes per second.
  public var bytesPerSecond = 240
  /// The maximum number of response bytes waiting to be written to a connection, in addition to one chunk.
  public var bufferedBytes = 64 * 1024
  /// The maximum number of bytes in long bodies waiting to be written, on all connections together. Only bodies
  /// passed as a `Chunk` count, not publishers or files; a chunk that several responses share counts once. Beyond
  /// that, connections are closed, beginning with the one whose client has gone longest without reading. A single
  /// body may be longer.
  public var wholeBodyBytes = 256 << 20
  /// The maximum number of bytes that are read ahead of the current request.
  public var readAheadBytes = 16 * 1024
  /// The maximum time for which the server keeps reading from a client after the last response, so that the response
  /// arrives; and the maximum number of bytes that it reads.
  public var linger: StreamInstant.Stride = .seconds(2)
  public var lingerBytes = 1 << 20

  public init() {}

  /// The interval at which connections are checked: deadlines fire at most two intervals late, and never early.
  var tick: StreamInstant.Stride {
    let least = min(idle, header, bodyGrace, writeGrace, linger)
    return min(max(.nanoseconds(Int(least.nanoseconds / 8)), .milliseconds(10)), .milliseconds(500))
  }

  func check() {
    precondition(
      connections > 0 && connectionsPerAddress > 0 && requestLineBytes > 0 && headerBytes > 0 && headerCount > 0
        && bodyBytes >= 0 && drainedBytes >= 0 && bytesPerSecond > 0 && bufferedBytes > 0 && wholeBodyBytes > 0
        && readAheadBytes > 0 && lingerBytes >= 0,
      "HTTPServerLimits: a limit is too low; use 1 or more")
    precondition(
      min(idle, header, bodyGrace, writeGrace, linger) > 0,
      "HTTPServerLimits: a time of zero or less ends every connection; use more than 0")
  }
}
