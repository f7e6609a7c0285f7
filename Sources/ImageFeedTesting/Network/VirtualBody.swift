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
  /// A body of at most this many bytes, all of which arrive with the head, doesn't keep its request open.
  static let window = 256 << 10

  private let transfer: VirtualTransfer
  private let response: HTTPResponse
  private let opened: StreamInstant
  private let pace: VirtualReply.Pace
  private var reader: PullSubscription<Chunk, HTTPError>?
  private var position = 0
  private var alarm: (any Cancellable)?
  private var failure: HTTPError?

  init(_ transfer: VirtualTransfer, _ response: HTTPResponse) {
    self.transfer = transfer
    self.response = response
    opened = transfer.network.time.now
    pace = transfer.pace
    transfer.open(self)
  }

  /// Runs when the body no longer has a subscriber, or never had one.
  deinit { transfer.stop(.cancelled) }

  func cancelled(_: PullSubscription<Chunk, HTTPError>) {
    reader = nil
    alarm.take()?.cancel()
    transfer.stop(.cancelled)
  }

  /// Fails the body, because the connection is lost.
  func fail(_ error: HTTPError) {
    failure = error
    alarm.take()?.cancel()
    reader.take()?.end(.failure(error))
  }

  private func attach(_ reader: PullSubscription<Chunk, HTTPError>) {
    self.reader = reader
    reader.begin()
    if let failure { fail(failure) } else if position == response.body.count { finish() }
  }

  func wanted(by reader: PullSubscription<Chunk, HTTPError>) -> Bool {
    guard hasArrived() else { return false }
    let end = min(position + pace.bytes, response.body.count)
    guard end <= transfer.request.maxBodyBytes else {
      let error = transfer.error(.tooLarge(limit: transfer.request.maxBodyBytes))
      transfer.stop(.failed(error))
      fail(error)
      return false
    }
    let piece = response.body.dropFirst(position).prefix(end - position)
    position = end
    transfer.read(end)
    reader.hold(piece.withUnsafeBytes { Chunk(copying: $0) })
    if position == response.body.count { finish() }
    return true
  }

  private func finish() {
    guard let reader = reader.take() else { return }
    transfer.stop(.answered(response))
    reader.end(.finished)
  }

  /// True if the next piece has arrived; otherwise, waits for it.
  private func hasArrived() -> Bool {
    let time = transfer.network.time
    let due = opened.advanced(by: .nanoseconds(pace.interval.nanoseconds * Int64(position / pace.bytes)))
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
        body.reader == nil && body.position == 0, "VirtualNetwork: a body arrives only once; subscribe to it once")
      body.attach(PullSubscription("VirtualNetwork", subscriber, body))
    }
  }
}
