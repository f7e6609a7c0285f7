import FeedStream
import Foundation

/// The publisher of one request's answer.
struct HTTPGet: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = HTTPError

  let client: CurlHTTPClient
  let request: HTTPRequest

  func receive<S: Subscriber>(subscriber: S) where S.Input == HTTPResponse, S.Failure == HTTPError {
    let exchange = HTTPExchange(client, request, HTTPExchange.Receiver(subscriber))
    subscriber.receive(subscription: exchange)
  }
}

/// One subscription: one request, sent when the first value is asked for, and its answer.
final class HTTPExchange: Subscription {
  enum State {
    case idle, waiting
    case running(CurlTransfer)
    case ended
  }

  /// The subscriber, its type erased.
  struct Receiver {
    let value: (HTTPResponse) -> Void
    let completion: (Subscribers.Completion<HTTPError>) -> Void

    init<S: Subscriber>(_ subscriber: S) where S.Input == HTTPResponse, S.Failure == HTTPError {
      value = { _ = subscriber.receive($0) }
      completion = { subscriber.receive(completion: $0) }
    }
  }

  let request: HTTPRequest
  /// Its URL as libcurl takes it.
  let address: String
  /// Stands for the host in the client's books.
  let host: UInt64
  @exclusivity(unchecked)  // As below: changed a few times in a request's life, on one thread.
  var state = State.idle
  /// Whether it has found the process out of descriptors or threads.
  var isStarved = false
  private let client: CurlHTTPClient
  @exclusivity(unchecked) private var receiver: Receiver?
  @exclusivity(unchecked) private var deadline: LoopTimer?

  init(_ client: CurlHTTPClient, _ request: HTTPRequest, _ receiver: Receiver) {
    self.client = client
    self.request = request
    self.receiver = receiver
    var address = request.url.absoluteString
    address.makeContiguousUTF8()
    self.address = address
    host = address.hostKey
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(
      demand > 0, "HTTP: request(.none) asks for nothing; request at least one value, or do not call request")
    guard case .idle = state, receiver != nil else { return }
    if let problem = request.problem(at: address) { return fail(.invalidRequest, problem) }
    let deadline = LoopTimer(on: client.loop) { [unowned self] in timeIsOver() }
    deadline.start(after: request.timeout)
    self.deadline = deadline
    client.start(self)
  }

  func cancel() {
    receiver = nil
    end()
  }

  /// Delivers what came of the request, which no longer runs. The subscriber may cancel in between.
  func deliver(_ result: Result<HTTPResponse, HTTPError>) {
    end()
    switch result {
    case .success(let response):
      receiver?.value(response)
      let receiver = self.receiver
      self.receiver = nil
      receiver?.completion(.finished)
    case .failure(let error):
      let receiver = self.receiver
      self.receiver = nil
      receiver?.completion(.failure(error))
    }
  }

  /// Ends with an error that has nothing to do with the connection.
  func fail(_ kind: HTTPError.Kind, _ cause: String = "") {
    deliver(.failure(HTTPError(kind, host: request.url.hostAndPort, cause: cause)))
  }

  private func timeIsOver() {
    let starving = "too many open files or threads"
    switch state {
    case .waiting where isStarved: fail(.resources, starving)
    // The time may be over in the moment in which it tries once more.
    case .running(let transfer) where isStarved && transfer.hasNoConnection: fail(.resources, starving)
    case .waiting: fail(.timedOut(.waiting), "no more than \(request.timeout) are allowed")
    case .running(let transfer): deliver(.failure(transfer.timeoutError(of: request)))
    case .idle, .ended: break
    }
  }

  /// Gives back what it holds.
  private func end() {
    deadline?.close()
    deadline = nil
    let state = self.state
    self.state = .ended
    if case .running(let transfer) = state { client.stop(self, transfer) }
  }
}

extension HTTPRequest {
  /// Why it cannot be sent, if so.
  fileprivate func problem(at address: String) -> String? {
    guard address.isWebAddress else { return "\(address) is neither http nor https" }
    guard !headers.isEmpty else { return nil }
    let isToken: (UInt8) -> Bool = { $0 > 0x20 && $0 < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
    for header in headers {
      guard !header.name.isEmpty, header.name.utf8.allSatisfy(isToken),
        !header.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F })
      else { return "the header field \"\(header.name)\" has characters that HTTP does not allow" }
    }
    return nil
  }
}

extension String {
  /// Whether it begins as an http or https address does.
  fileprivate var isWebAddress: Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      ["http:", "https:"].contains { (scheme: StaticString) in
        bytes.count > scheme.utf8CodeUnitCount
          && strncasecmp(bytes.baseAddress!, scheme.utf8Start, scheme.utf8CodeUnitCount) == 0
      } && bytes.contains(UInt8(ascii: "/"))
    } ?? false
  }

  /// A hash of a URL's scheme, host and port: of everything before the path.
  fileprivate var hostKey: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
    var slashes = 0
    var text = self
    // An address is contiguous: bytes are quicker to come by than a text's elements, and nothing is copied.
    text.withUTF8 { bytes in
      for byte in bytes {
        if byte == UInt8(ascii: "/") { slashes += 1 }
        if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      }
    }
    return hash
  }
}
