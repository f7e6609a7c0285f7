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
  /// error of the last attempt is delivered. Each attempt has the request's own timeout. A streamed request
  /// (``HTTPClient/open(_:)``) is retried only until its response arrives.
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
    attempt(request, 0, { [client] in client.get(request) }, status: \.status, headers: \.headers)
  }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    attempt(request, 0, { [client] in client.open(request) }, status: \.status, headers: \.headers)
  }

  /// One attempt after another: the outcome of each attempt determines whether there is another.
  private func attempt<Response>(
    _ request: HTTPRequest, _ number: Int, _ send: @escaping () -> AnyPublisher<Response, HTTPError>,
    status: KeyPath<Response, Int>, headers: KeyPath<Response, HTTPHeaders>
  ) -> AnyPublisher<Response, HTTPError> {
    let again: (Duration) -> AnyPublisher<Response, HTTPError> = { [self] least in
      let pause = max(least, policy.pause(before: number, using: &generator))
      return Just(()).setFailureType(to: HTTPError.self)
        .delay(for: StreamInstant.Stride(pause), scheduler: AnyLoopScheduler(times))
        .flatMap { [self] in attempt(request, number + 1, send, status: status, headers: headers) }
        .eraseToAnyPublisher()
    }
    let isLast = policy.limit.map { number >= $0 } ?? false
    return send()
      .map { Result<Response, HTTPError>.success($0) }
      .catch { Just(.failure($0)).setFailureType(to: HTTPError.self) }
      .flatMap { result -> AnyPublisher<Response, HTTPError> in
        switch result {
        case .success(let response)
        where !isLast && Self.isOverloaded(response[keyPath: status]) && request.canBeRepeated:
          return again(Self.pause(response[keyPath: headers]))
        case .success(let response):
          return Just(response).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
        case .failure(let error) where !isLast && error.isPassing && request.canBeRepeated: return again(.zero)
        case .failure(let error): return Fail(error: error).eraseToAnyPublisher()
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
