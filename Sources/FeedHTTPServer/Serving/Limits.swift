public import FeedStream

extension HTTPServer {
  /// The limits on what a client may send and use. Every limit has a default; see also `docs/Limits.md`.
  public struct Limits: Sendable {
    /// The number of connections that are open. For a further one, the connection that has waited for a request for
    /// longest, a second or more, is closed; while there is none, the others wait in the system's backlog.
    public var connections = 4_096
    /// The number of connections that one client has open, by its address; a network of IPv6 with a prefix of 64 bits is one client.
    /// A further connection is closed immediately.
    public var connectionsPerAddress = 256
    /// True for addresses that ``connectionsPerAddress`` does not limit, such as that of a proxy in front, whose connections
    /// belong to many clients. By default, the addresses of this machine.
    public var isUnlimited: @Sendable (SocketAddress) -> Bool = { $0.isLocal }
    /// Bytes of a request line: method, target and version. More is rejected with status 414.
    public var requestLineBytes = 8 * 1024
    /// Bytes of all header fields of a request, and of its trailers. The response to more is 431.
    public var headerBytes = 32 * 1024
    /// The number of header fields. The response to more is 431.
    public var headerCount = 100
    /// Bytes of a body. More is rejected with status 413.
    public var bodyBytes = 1 << 20
    /// Bytes of an unread body that are discarded to keep the connection; it is closed if there are more.
    public var drainedBytes = 64 * 1024
    /// The time that a connection may wait for a request, even its first; then it is closed.
    public var idle: StreamInstant.Stride = .seconds(60)
    /// The time that the head of a request may take from its first byte; then it is rejected with status 408.
    public var header: StreamInstant.Stride = .seconds(10)
    /// The time for which an awaited body may be slower than ``bytesPerSecond``; then it is rejected with status 408.
    public var bodyGrace: StreamInstant.Stride = .seconds(10)
    /// The time that a client may take nothing of a response, beyond the time that its bytes take at ``bytesPerSecond``; then
    /// the connection is closed.
    public var writeGrace: StreamInstant.Stride = .seconds(30)
    /// The minimum transfer rate of bodies and responses that are being awaited, in bytes per second.
    public var bytesPerSecond = 240
    /// The number of bytes of responses that may wait to be written to a connection, besides one chunk.
    public var bufferedBytes = 64 * 1024
    /// The number of bytes of long bodies that were given whole, as a `Chunk` instead of a publisher or a file, and
    /// wait to be written: of all connections together; a chunk that several share counts once. Beyond that,
    /// connections are closed, first the one that has taken nothing for longest. A single body may be longer.
    public var wholeBodyBytes = 256 << 20
    /// The number of bytes that are read ahead of the current request.
    public var readAheadBytes = 16 * 1024
    /// The time, and the bytes, for which a client is read after the last response, so that the response reaches it.
    public var linger: StreamInstant.Stride = .seconds(2)
    public var lingerBytes = 1 << 20

    public init() {}

    /// The interval at which connections are checked: deadlines are kept to within twice this, and never too early.
    var tick: StreamInstant.Stride {
      let least = min(idle, header, bodyGrace, writeGrace, linger)
      return min(max(.nanoseconds(Int(least.nanoseconds / 8)), .milliseconds(10)), .milliseconds(500))
    }

    func check() {
      precondition(
        connections > 0 && connectionsPerAddress > 0 && requestLineBytes > 0 && headerBytes > 0 && headerCount > 0
          && bodyBytes >= 0 && drainedBytes >= 0 && bytesPerSecond > 0 && bufferedBytes > 0 && wholeBodyBytes > 0
          && readAheadBytes > 0 && lingerBytes >= 0,
        "HTTPServer.Limits: a limit is zero or less; use 1 or more")
      precondition(
        min(idle, header, bodyGrace, writeGrace, linger) > 0,
        "HTTPServer.Limits: a time of zero or less ends every connection; use more than 0")
    }
  }
}
