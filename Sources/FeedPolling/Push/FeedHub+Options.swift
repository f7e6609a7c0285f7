public import FeedStream

extension FeedHub {
  /// Options; each has a default.
  public struct Options: Sendable {
    /// The range of granted leases; a requested lease outside of it is clamped. Five minutes to 30 days by default.
    public var leases = Duration.seconds(300)...(.seconds(30 * 86_400))
    /// The lease for a subscriber that doesn't request a particular one. Ten days by default.
    public var usualLease = Duration.seconds(864_000)
    /// The maximum number of subscriptions, including those that wait for their verification. 1,000 by default.
    public var mostSubscriptions = 1_000
    /// The maximum number of subscriptions with callbacks on one host. 100 by default.
    public var mostPerHost = 100
    /// The maximum number of concurrent requests. 16 by default; at most half of them verify subscriptions.
    public var maxRunning = 16
    /// The time for which changes are gathered before they are sent. Two seconds by default.
    public var quiet = Duration.seconds(2)
    /// The pauses before a failed delivery is retried. Six retries within about half an hour by default.
    public var retries = RetryPolicy.exponential(from: .seconds(30), cap: .seconds(900), jitter: 0.5, limit: 6)
    /// The time limit for a request. Ten seconds by default.
    public var timeout = Duration.seconds(10)

    public init() {}
  }

  /// A feed's content, as its server sends it.
  public struct Content: Sendable {
    /// The value of `Content-Type`.
    public var type: String
    public var body: Chunk
    /// A mark that identifies the content: the content has changed if the mark differs.
    public var mark: String

    public init(type: String, body: Chunk, mark: String) { (self.type, self.body, self.mark) = (type, body, mark) }
  }
}
