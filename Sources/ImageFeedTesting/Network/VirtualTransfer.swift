import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// A request that is sent when its subscriber asks for the answer.
struct VirtualGet: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = HTTPError

  let network: VirtualNetwork
  let request: HTTPRequest

  func receive<S: Subscriber>(subscriber: S) where S.Input == HTTPResponse, S.Failure == HTTPError {
    subscriber.receive(
      subscription: VirtualTransfer(network, request) { transfer, ending in
        switch ending {
        case .answered(let response):
          _ = subscriber.receive(response)
          if !transfer.isCancelled { subscriber.receive(completion: .finished) }
        case .failed(let error): subscriber.receive(completion: .failure(error))
        case .cancelled: break
        }
      })
  }
}

/// One request in progress.
final class VirtualTransfer: Subscription {
  let host: String
  private(set) var isCancelled = false

  private let network: VirtualNetwork
  private let request: HTTPRequest
  private var deliver: ((VirtualTransfer, VirtualExchange.Ending) -> Void)?
  private var isSent = false
  private var number: Int?
  private var ending: VirtualExchange.Ending?
  private var due = StreamInstant(nanoseconds: .max)
  private var alarm: (any Cancellable)?
  /// The request's name in the list of waiting work.
  private let note: OriginNote

  init(
    _ network: VirtualNetwork, _ request: HTTPRequest,
    deliver: @escaping (VirtualTransfer, VirtualExchange.Ending) -> Void
  ) {
    self.network = network
    self.request = request
    self.deliver = deliver
    host = request.url.host() ?? ""
    note = OriginNote(named: "the request to \(host)")
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "VirtualNetwork: a demand of zero asks for nothing; ask for 1 or more")
    guard !isSent, !isCancelled else { return }
    isSent = true
    network.send(request, self)
  }

  /// The request is sent and has this number.
  func begin(_ number: Int) { self.number = number }

  /// Schedules this ending of the request, unless another comes first.
  func end(with ending: VirtualExchange.Ending, after latency: StreamInstant.Stride) {
    self.ending = ending
    wait(until: network.time.now.advanced(by: latency))
  }

  /// Cuts the connection at `instant`, unless the request ends before.
  func cut(at instant: StreamInstant) {
    guard number != nil, instant < due else { return }
    ending = .failed(error(.receive))
    wait(until: instant)
  }

  func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    deliver = nil
    alarm?.cancel()
    alarm = nil
    guard let number else { return }
    self.number = nil
    network.end(number, .cancelled)
  }

  func error(_ kind: HTTPError.Kind) -> HTTPError {
    HTTPError(kind, host: request.url.port.map { "\(host):\($0)" } ?? host, cause: "")
  }

  private func wait(until instant: StreamInstant) {
    alarm?.cancel()
    due = instant
    alarm = network.time.alarm(at: instant, note) { [self] in
      alarm = nil
      finish()
    }
  }

  private func finish() {
    guard let number, let ending, let deliver else { return }
    self.number = nil
    self.deliver = nil
    network.end(number, ending)
    if !isCancelled { deliver(self, ending) }
  }
}
