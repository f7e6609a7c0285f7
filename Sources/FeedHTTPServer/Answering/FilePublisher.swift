internal import FeedStream

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// By this name, since the server has a method of the call's.
private let systemClose: @Sendable (Int32) -> Int32 = { close($0) }

extension HTTPServer {
  /// An open file, closed when it is released. Several responses may share one.
  public final class OpenFile: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: of a file that can be read at any place; from now on, closing it is not the caller's.
    public init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { _ = systemClose(descriptor) }

    /// The bytes at `range`, or fewer where the file has been cut. Blocks.
    func read(_ range: Range<Int64>) -> Result<Chunk, SystemError> {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 1)
      defer { memory.deallocate() }
      while true {
        let count = pread(descriptor, memory.baseAddress, range.count, off_t(range.lowerBound))
        if count >= 0 { return .success(Chunk(copying: UnsafeRawBufferPointer(rebasing: memory[..<count]))) }
        if errno != EINTR { return .failure(SystemError("read", "a file that is served", code: errno)) }
      }
    }
  }
}

/// Part of a file, read off the loop as it is requested, a chunk at a time.
struct FilePublisher: Publisher {
  typealias Output = Chunk
  typealias Failure = any Error

  let body: FileBody

  func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == any Error {
    subscriber.receive(subscription: FileSubscription(body, AnySubscriber(subscriber)))
  }
}

private final class FileSubscription: Subscription {
  private let body: FileBody
  private var left: Range<Int64>
  private var down: AnySubscriber<Chunk, any Error>?
  private var demand = Subscribers.Demand.none
  private var job: (any Cancellable)?

  init(_ body: FileBody, _ down: AnySubscriber<Chunk, any Error>) {
    self.body = body
    self.down = down
    left = body.range
  }

  func request(_ demand: Subscribers.Demand) {
    self.demand += demand
    read()
  }

  private func read() {
    guard job == nil, demand > .none, let down else { return }
    guard !left.isEmpty else {
      self.down = nil
      return down.receive(completion: .finished)
    }
    let part = left.lowerBound..<min(left.lowerBound + 128 * 1024, left.upperBound)
    job = body.scheduler.offload { [file = body.file] in
      file.read(part)
    } completion: { [self] in
      receive($0)
    }
  }

  private func receive(_ result: Result<Chunk, SystemError>) {
    job = nil
    guard let down else { return }
    switch result {
    case .success(let chunk) where !chunk.isEmpty:
      left = left.lowerBound + Int64(chunk.count)..<left.upperBound
      demand -= 1
      demand += down.receive(chunk)
      if left.isEmpty, let down = self.down {
        self.down = nil
        down.receive(completion: .finished)
      } else {
        read()
      }
    case .success:
      // Cut meanwhile; the response cannot be completed.
      self.down = nil
      down.receive(completion: .failure(SystemError("read", "a file that became shorter", code: EIO)))
    case .failure(let error):
      self.down = nil
      down.receive(completion: .failure(error))
    }
  }

  func cancel() {
    down = nil
    job?.cancel()
    job = nil
  }
}
