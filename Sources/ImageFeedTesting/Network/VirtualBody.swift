import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// One request, which is sent when its response is requested. The response is delivered when its head has arrived.
final class VirtualOpen: RequestedWork {
  private let transfer: VirtualTransfer

  init(_ network: VirtualNetwork, _ request: HTTPRequest) {
    transfer = VirtualTransfer(network, request, isStreaming: true)
  }

  func start(_ settle: @escaping (Result<StreamingResponse, HTTPError>) -> Void) {
    transfer.send { [transfer] result in
      settle(
        result.map { response in
          let body = VirtualBody.Source(body: VirtualBody(transfer, response))
          return StreamingResponse(
            status: response.status, headers: response.headers, url: response.url, body: AnyPublisher(body),
            redirects: response.redirects)
        })
    }
  }

  func cancel() { transfer.cancel() }
}

/// The body of one response in transit: its pieces arrive at their times, and wait until they are requested.
final class VirtualBody: PullSource {
  /// The number of unread bytes at which the connection is no longer read.
  static let window = 256 << 10

  private let transfer: VirtualTransfer
  private let response: HTTPResponse
  private let opened: StreamInstant
  private let pace: VirtualReply.Pace
  private var reader: PullSubscription<Chunk, HTTPError>?
  private var isTaken = false
  private var position = 0
  /// The number of bytes that are delivered before the completion.
  private var end: Int
  private var alarm: (any Cancellable)?
  private var failure: HTTPError?

  init(_ transfer: VirtualTransfer, _ response: HTTPResponse) {
    self.transfer = transfer
    self.response = response
    opened = transfer.network.time.now
    pace = transfer.pace
    end = response.body.count
    transfer.open(self, of: response, until: arrival(of: max(end - 1, 0)))
  }

  /// Runs when the body no longer has a subscriber, or never had one.
  deinit { transfer.stop(.cancelled) }

  func cancelled(_: PullSubscription<Chunk, HTTPError>) {
    reader = nil
    alarm.take()?.cancel()
    transfer.stop(.cancelled)
  }

  /// Fails the body after the bytes that have arrived, because the connection is lost.
  func fail(_ error: HTTPError) { fail(error, after: arrived) }

  private func fail(_ error: HTTPError, after count: Int) {
    (failure, end) = (error, count)
    alarm.take()?.cancel()
    complete()
    // A piece that arrives at this instant may not have been delivered.
    reader?.serve()
  }

  private func attach(_ reader: PullSubscription<Chunk, HTTPError>) {
    self.reader = reader
    reader.begin()
    complete()
  }

  func wanted(by reader: PullSubscription<Chunk, HTTPError>) -> Bool {
    guard position < end else {
      complete()
      return true
    }
    guard hasArrived() else { return false }
    let next = min(position + pace.bytes, end)
    guard next <= transfer.request.maxBodyBytes else {
      let error = transfer.error(.tooLarge(limit: transfer.request.maxBodyBytes))
      transfer.stop(.failed(error))
      fail(error, after: position)
      return false
    }
    let piece = response.body.dropFirst(position).prefix(next - position)
    position = next
    transfer.read(next)
    reader.hold(piece.withUnsafeBytes { Chunk(copying: $0) })
    complete()
    return true
  }

  /// Completes the request if the rest of the body has arrived, and the body if all that arrived has been read.
  private func complete() {
    if isComplete { transfer.stop(.answered(response)) }
    guard position == end else { return }
    reader.take()?.end(failure.map { .failure($0) } ?? .finished)
  }

  /// True when the whole body has arrived.
  var isComplete: Bool {
    let count = response.body.count
    return failure == nil && count <= transfer.request.maxBodyBytes && arrived == count
  }

  /// The number of bytes that have arrived.
  var arrived: Int {
    let count = response.body.count
    let elapsed = opened.distance(to: transfer.network.time.now).nanoseconds
    // The first piece arrives with the head.
    let pieces = pace.interval > .zero ? min(Int(elapsed / pace.interval.nanoseconds), count) + 1 : count
    let (bytes, isMore) = pieces.multipliedReportingOverflow(by: pace.bytes)
    return min(count, isMore ? count : bytes, position + Self.window)
  }

  /// The time at which the piece with the byte at `position` arrives.
  private func arrival(of position: Int) -> StreamInstant {
    opened.advanced(by: pace.interval.times(position / pace.bytes))
  }

  /// True if the next piece has arrived; otherwise, waits for it.
  private func hasArrived() -> Bool {
    let time = transfer.network.time
    let due = arrival(of: position)
    guard due > time.now else { return true }
    if alarm == nil {
      alarm = time.alarm(at: due, OriginNote(named: "the body from \(transfer.host)")) { [self] in
        alarm = nil
        reader?.serve()
      }
    }
    return false
  }

  /// The publisher of the body.
  struct Source: Publisher, _DeliversAtHome {
    typealias Output = Chunk
    typealias Failure = HTTPError

    let body: VirtualBody

    func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == HTTPError {
      precondition(
        !body.isTaken, "VirtualNetwork: a body arrives only once; subscribe to it once, or use share()")
      body.isTaken = true
      body.attach(PullSubscription("VirtualNetwork", subscriber, body))
    }
  }
}
