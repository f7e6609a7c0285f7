/// The number of retries, and the pause before each.
///
///     let policy = RetryPolicy.exponential(from: .seconds(1), cap: .seconds(60), jitter: 0.5, limit: 8)
public struct RetryPolicy: Equatable, Hashable, Sendable {
  /// The maximum number of retries after the first attempt; `nil` means no limit.
  public var limit: Int?
  /// The pause before the first retry.
  public var firstPause: Duration
  /// The factor by which pauses grow.
  public var factor: Double
  /// The longest pause.
  public var cap: Duration
  /// The random share of a pause, from 0 to 1: with 0.5, a pause of 8 s lasts between 4 and 8 s; with 1 ("full
  /// jitter"), between 0 and 8 s. The jitter prevents clients that failed together from retrying together.
  public var jitter: Double

  /// - Precondition: no number is negative, and `jitter` is at most 1.
  public init(limit: Int?, firstPause: Duration, factor: Double, cap: Duration, jitter: Double) {
    precondition(limit ?? 0 >= 0, "RetryPolicy: limit is \(limit ?? 0); use 0 or more, or nil for no limit")
    precondition(firstPause >= .zero, "RetryPolicy: firstPause is \(firstPause); use zero or more")
    precondition(cap >= .zero, "RetryPolicy: cap is \(cap); use zero or more")
    precondition(factor >= 0, "RetryPolicy: factor is \(factor); use 0 or more (more than 1 for pauses that grow)")
    precondition((0...1).contains(jitter), "RetryPolicy: jitter is \(jitter); use 0 to 1")
    self.limit = limit
    self.firstPause = firstPause
    self.factor = factor
    self.cap = cap
    self.jitter = jitter
  }

  /// Retries immediately.
  public static func immediate(limit: Int?) -> RetryPolicy { .constant(.zero, limit: limit) }

  /// Retries after pauses of equal length, apart from the jitter.
  public static func constant(_ pause: Duration, jitter: Double = 0, limit: Int? = nil) -> RetryPolicy {
    RetryPolicy(limit: limit, firstPause: pause, factor: 1, cap: pause, jitter: jitter)
  }

  /// Retries after pauses that grow by `factor`, up to `cap`.
  ///
  /// Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
  public static func exponential(
    from firstPause: Duration, factor: Double = 2, cap: Duration = .seconds(60), jitter: Double = 0, limit: Int? = nil
  ) -> RetryPolicy {
    RetryPolicy(limit: limit, firstPause: firstPause, factor: factor, cap: cap, jitter: jitter)
  }

  /// Pauses that double from the lower bound to the upper one; half of each pause is random.
  package static func between(_ pauses: ClosedRange<Duration>) -> RetryPolicy {
    .exponential(from: pauses.lowerBound, cap: pauses.upperBound, jitter: 0.5)
  }

  /// The time to wait before a retry.
  ///
  /// - Parameters:
  ///   - retry: the number of the retry; the first is 0.
  ///   - generator: the source of random numbers for the jitter; unused when there is no jitter.
  public func pause<G: RandomNumberGenerator>(before retry: Int, using generator: inout G) -> Duration {
    var seconds = min(firstPause.seconds, cap.seconds)
    // Without a first pause, there is none later: zero times infinity would not be a number.
    guard seconds > 0 else { return .zero }
    if factor != 1 { seconds = min(seconds * exponent(retry), cap.seconds) }
    if jitter > 0 { seconds *= Double.random(in: (1 - jitter)...1, using: &generator) }
    return .nanoseconds(Int64(exactly: (seconds * 1e9).rounded()) ?? .max)
  }

  private func exponent(_ power: Int) -> Double {
    var (result, base, power) = (1.0, factor, power)
    while power > 0 {
      if power & 1 == 1 { result *= base }
      base *= base
      power >>= 1
    }
    return result
  }
}
