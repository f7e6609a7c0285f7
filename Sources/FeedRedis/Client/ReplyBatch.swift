/// The replies to commands that are sent together: all replies, or the first failure or refusal.
final class ReplyBatch {
  private var values: [RedisValue]
  private var missing: Int
  private var failure: RedisError?
  private let wrongType: RedisValue?
  private let done: (Result<[RedisValue], RedisError>) -> Void

  /// - Parameter wrongType: the value of a command whose key has an unexpected type, if that isn't a failure.
  init(_ count: Int, wrongType: RedisValue?, _ done: @escaping (Result<[RedisValue], RedisError>) -> Void) {
    values = Array(repeating: .null, count: count)
    missing = count
    self.wrongType = wrongType
    self.done = done
  }

  func take(_ result: Result<RedisValue, RedisError>, at index: Int) {
    missing -= 1
    switch result {
    case .success(let value): values[index] = value
    case .failure(let error):
      if let wrongType, error.refusal?.kind == .wrongType {
        values[index] = wrongType
      } else {
        failure = failure ?? error
      }
    }
    if missing == 0 { done(failure.map { .failure($0) } ?? .success(values)) }
  }
}
