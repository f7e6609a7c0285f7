/// Where a stream lives: in a domain, or, when it was made in none, wherever its caller happens to be.
struct StreamHome: Sendable {
  let domain: (any StreamDomain)?

  /// The home of the calling code.
  static var current: StreamHome { StreamHome(domain: CurrentDomain.get()) }

  /// Runs `work` where the stream lives: now if that is here, else when the domain comes to it.
  func run(_ work: @escaping @Sendable () -> Void) {
    guard let domain, !domain.isHere else { return work() }
    domain.execute(work)
  }
}

extension StreamHome {
  /// Starts a task of a stream that lives here: in virtual time when that is its home.
  func task(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: domain?.taskExecutor) { await work() }
  }

  /// Runs `work` where the stream lives, and returns when it has run.
  func perform(_ work: @escaping @Sendable () -> Void) async {
    await withUnsafeContinuation { continuation in
      run {
        work()
        continuation.resume()
      }
    }
  }
}
