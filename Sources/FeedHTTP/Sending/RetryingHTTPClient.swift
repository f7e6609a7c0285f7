public import FeedStream
import Foundation

extension HTTPClient {
  /// A client that retries requests whose server was unreachable or busy, if they are safe to repeat
  /// (``HTTPRequest/canBeRepeated``).
  ///
  ///     let client = CurlHTTPClient(on: loop)
  ///       .retrying(.exponential(from: .milliseconds(200), jitter: 0.5, limit: 3), on: loop)
  ///
  /// Retries after failed lookups and connections, interrupted transfers, timeouts, exhausted resources, and the
  /// statuses 429, 502, 503, and 504. A `Retry-After` in seconds lengthens the pause, up to a minute. The response or
  /// error of the last attempt is delivered. Each attempt is a separate request to this client, with the request's own
  /// timeout. A streamed request (``HTTPClient/open(_:)``) is retried only until its response arrives.
  ///
  /// - Parameter generator: generates the random numbers for the policy's jitter.
  public func retrying(
    _ policy: RetryPolicy, on scheduler: any LoopScheduler,
    using generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) -> RetryingHTTPClient {
    RetryingHTTPClient(self, policy, scheduler, generator)
  }
}

/// See ``HTTPClient/retrying(_:on:using:)``.
public final class RetryingHTTPClient: HTTPClient {
  private let client: any HTTPClient
  private let policy: RetryPolicy
  private let times: any LoopScheduler
  private var generator: any RandomNumberGenerator

  init(
    _ client: any HTTPClient, _ policy: RetryPolicy, _ scheduler: any LoopScheduler,
    _ generator: any RandomNumberGenerator
  ) {
    self.client = client
    self.policy = policy
    times = scheduler
    self.generator = generator
  }

  public var scheduler: (any LoopScheduler)? { times }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    retry(request) { [client] in client.get(request) }
  }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    retry(request) { [client] in client.open(request) }
  }

  /// The reason for another attempt, or the error of the last one.
  private enum Failure: Error {
    case overloaded(atLeast: Duration)
    case failed(HTTPError)
  }

  /// One attempt after another: the outcome of each attempt determines whether there is another.
  private func retry<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ attempt: @escaping () -> AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    Deferred { [self] in
      var retries = 0
      func mayRetry() -> Bool { retries < policy.limit ?? .max && request.canBeRepeated }
      return
        Deferred(createPublisher: attempt)
        .mapError { Failure.failed($0) }
        .flatMap { response -> Result<Response, Failure>.Publisher in
          guard Self.isOverloaded(response.status), mayRetry() else { return .init(response) }
          return .init(Failure.overloaded(atLeast: Self.pause(response.headers)))
        }
        .retry { failures in
          failures.flatMap { [self] failure -> AnyPublisher<Void, HTTPError> in
            var least = Duration.zero
            switch failure {
            case .overloaded(let pause): least = pause
            case .failed(let error):
              guard error.isPassing, mayRetry() else { return Fail(error: error).eraseToAnyPublisher() }
            }
            let pause = max(least, policy.pause(before: retries, using: &generator))
            retries += 1
            return Just(()).setFailureType(to: HTTPError.self)
              .delay(for: StreamInstant.Stride(pause), scheduler: AnyLoopScheduler(times)).eraseToAnyPublisher()
          }
        }
    }
    .eraseToAnyPublisher()
  }

  private static func isOverloaded(_ status: Int) -> Bool { [429, 502, 503, 504].contains(status) }

  /// The pause that `Retry-After` requests, up to a minute; zero if the field isn't a number of seconds.
  private static func pause(_ headers: HTTPHeaders) -> Duration {
    .seconds(min(headers["Retry-After"].flatMap { CacheControl.seconds($0) } ?? 0, 60))
  }
}

extension HTTPError {
  /// True if the next attempt may succeed, because the failure is due to the network or the server.
  package var isPassing: Bool {
    switch kind {
    case .nameResolution, .connect, .send, .receive, .truncated, .timedOut, .resources: true
    default: false
    }
  }
}
