import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// One request, which is sent when its response is requested. The response is delivered when it is complete.
final class VirtualGet: RequestedWork {
  private let transfer: VirtualTransfer

  init(_ network: VirtualNetwork, _ request: HTTPRequest) { transfer = VirtualTransfer(network, request) }

  func start(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) { transfer.send(settle) }

  func cancel() { transfer.cancel() }
}

/// One request in progress.
final class VirtualTransfer {
  let network: VirtualNetwork
  let request: HTTPRequest
  let host: String
  /// True when the body is delivered while it arrives.
  let isStreaming: Bool
  /// The pace at which the body arrives.
  var pace = VirtualReply.Pace()

  /// The request's body, when it has arrived.
  private(set) var sentBody = Chunk()
  private var sending: AnyCancellable?
  private var settle: ((Result<HTTPResponse, HTTPError>) -> Void)?
  private var number: Int?
  private var ending: VirtualExchange.Ending?
  private var due = StreamInstant(nanoseconds: .max)
  private var deadline = StreamInstant(nanoseconds: .max)
  /// The body that is arriving, after the head.
  private weak var body: VirtualBody?
  private var alarm: (any Cancellable)?
  /// The request's name in the list of waiting work.
  private let note: OriginNote

  init(_ network: VirtualNetwork, _ request: HTTPRequest, isStreaming: Bool = false) {
    self.network = network
    self.request = request
    self.isStreaming = isStreaming
    host = request.url.host() ?? ""
    note = OriginNote(named: "the request to \(host)")
  }

  /// - Parameter settle: receives the response, whose body may still be arriving.
  func send(_ settle: @escaping (Result<HTTPResponse, HTTPError>) -> Void) {
    self.settle = settle
    deadline = network.time.now.advanced(by: request.timeout)
    guard let body = request.body else { return network.send(request, self) }
    if let bytes = body.wholeBytes {
      sentBody = bytes
      return network.send(request, self)
    }
    // The request is sent to the origin once its whole body has been read.
    sending = body.open(on: network.time).collect().sink { [self] completion in
      if case .failure(let failure) = completion { fail(failure) }
    } receiveValue: { [self] chunks in
      sentBody = Chunk(joining: chunks)
      network.send(request, self)
    }
  }

  private func fail(_ failure: any Error) {
    var error = error(.body)
    error.cause = "\(failure)"
    settle.take()?(.failure(error))
  }

  /// Called when the request is sent, with its number.
  func begin(_ number: Int) { self.number = number }

  /// Schedules this completion of the request, unless a different one comes first.
  func end(with ending: VirtualExchange.Ending, after latency: StreamInstant.Stride) {
    self.ending = ending
    wait(until: network.time.now.advanced(by: latency))
  }

  /// Cuts the connection at `instant`, unless the request completes first.
  func cut(at instant: StreamInstant) {
    guard number != nil, instant < due else { return }
    ending = .failed(error(.receive))
    wait(until: instant)
  }

  func cancel() {
    settle = nil
    sending = nil
    stop(.cancelled)
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
    guard let number, let ending else { return }
    if case .answered(let response) = ending, streams(response.body), let settle = settle.take() {
      return settle(.success(response))
    }
    self.number = nil
    let settle = settle.take()
    network.end(number, ending)
    switch ending {
    case .answered(let response): settle?(.success(response))
    case .failed(let error): if let settle { settle(.failure(error)) } else { body?.fail(error) }
    case .cancelled: break
    }
  }
}

// MARK: - A body that arrives

extension VirtualTransfer {
  /// True when `body` arrives after the head.
  func streams(_ body: Data) -> Bool {
    isStreaming && (body.count > VirtualBody.window || pace.interval > 0 && body.count > pace.bytes)
  }

  /// Called when the head has arrived, and `body` follows.
  func open(_ body: VirtualBody) {
    guard number != nil else { return }
    self.body = body
    ending = .failed(error(.timedOut(.receive)))
    wait(until: deadline)
    network.cut(self)
  }

  /// Records that `bytes` bytes of the body were read.
  func read(_ bytes: Int) { if let number { network.note(number, bytes: bytes) } }

  /// Completes the request, unless it has completed.
  func stop(_ ending: VirtualExchange.Ending) {
    alarm.take()?.cancel()
    guard let number = number.take() else { return }
    network.end(number, ending)
  }
}
