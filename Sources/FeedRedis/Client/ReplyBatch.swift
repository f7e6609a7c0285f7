/// The replies to commands that are sent together: all replies, or the first failure or refusal.
final class ReplyBatch {
  private var values: [RedisValue]
  private var missing: Int
  private var failure: RedisError?
  private let done: (Result<[RedisValue], RedisError>) -> Void

  init(_ count: Int, _ done: @escaping (Result<[RedisValue], RedisError>) -> Void) {
    values = Array(repeating: .null, count: count)
    missing = count
    self.done = done
  }

  func take(_ result: Result<RedisValue, RedisError>, at index: Int) {
    missing -= 1
    switch result {
    case .success(let value): values[index] = value
    case .failure(let error): failure = failure ?? error
    }
    if missing == 0 { done(failure.map { .failure($0) } ?? .success(values)) }
  }
}
