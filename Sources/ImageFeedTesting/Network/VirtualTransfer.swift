import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// One request, sent when its answer is asked for.
final class VirtualTransfer: RequestedWork {
  let host: String
  private var isCancelled = false

  private let network: VirtualNetwork
  private let request: HTTPRequest
  private var settle: ((Result<HTTPResponse, HTTPError>) -> Void)?
  private var number: Int?
  private var ending: VirtualExchange.Ending?
  private var due = StreamInstant(nanoseconds: .max)
  private var alarm: (any Cancellable)?
  /// The request's name in the list of waiting work.
  private let note: OriginNote

  init(_ network: VirtualNetwork, _ request: HTTPRequest) {
    self.network = network
    self.request = request
    host = request.url.host() ?? ""
    note = OriginNote(named: "the request to \(host)")
  }

  func start(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) {
    self.settle = settle
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
    settle = nil
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
    guard let number, let ending, let settle else { return }
    self.number = nil
    self.settle = nil
    network.end(number, ending)
    guard !isCancelled else { return }
    switch ending {
    case .answered(let response): settle(.success(response))
    case .failed(let error): settle(.failure(error))
    case .cancelled: break
    }
  }
}
