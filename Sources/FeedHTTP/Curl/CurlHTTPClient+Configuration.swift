extension CurlHTTPClient {
  /// A client's limits and options.
  public struct Configuration: Sendable {
    /// The maximum number of open connections, idle ones included, and of running requests. By default, 256, or half of
    /// the file descriptors that the process has left (of `RLIMIT_NOFILE`) when the client is created, whichever is
    /// less.
    public var maxConnections = 256
    /// The maximum number of connections, and of running requests, per host. 8 by default.
    public var maxConnectionsPerHost = 8
    /// The maximum number of redirects to follow per request. 10 by default.
    public var maxRedirects = 10
    /// The maximum number of header bytes for one request, redirects included. 256 KiB by default.
    public var maxHeaderBytes = 256 << 10
    /// The maximum number of header lines for one request, redirects included. 1,000 by default.
    public var maxHeaderLines = 1_000
    /// A file of certificates (PEM) to trust instead of the system's.
    public var certificateAuthorities: String?
    /// A folder of additional certificates (PEM) to trust, with file names as `openssl rehash` makes them.
    public var certificateFolder: String?
    /// True, the default, to use the proxies set in the environment.
    public var usesProxies = true
    /// The proxy setting for requests that don't have their own (``HTTPRequest/proxy``). `nil`, the default, to follow
    /// ``usesProxies``.
    public var proxy: HTTPProxy?
    /// Addresses in private networks that count as public, such as `127.0.0.1`. For tests on one machine;
    /// none by default.
    public var publicAddresses: Set<String> = []
    /// The addresses to use for names instead of looking them up, for tests.
    package var addresses: [String: [String]] = [:]
    /// The value of `User-Agent`.
    public var userAgent = Self.defaultUserAgent

    /// Signs each request just before it is sent. `nil`, the default, to sign none. A request that has a `Signature`
    /// field keeps its own.
    public var signer: RequestSigner?

    /// `FeedStream/0.1`.
    public static let defaultUserAgent = "FeedStream/0.1"

    public init() {}
  }
}
