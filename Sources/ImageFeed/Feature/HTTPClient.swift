import FeedStream
import Foundation

/// What the feed asks of HTTP: the port that ``CurlHTTPClient`` and a test's stub fit.
///
/// A client lives on one loop, as streams do, and so is not `Sendable`.
public protocol HTTPClient {
  /// Gets what is at an address.
  ///
  /// One subscription is one request: nothing is sent before a subscriber attaches and asks for a value, and every
  /// subscriber has a request of its own.
  ///
  /// **Demand:** the response is delivered once asked for, and completion follows it. **Failure:** whatever kept a whole
  /// response from arriving; a status other than 200 is a response. **Cancellation:** closes the transfer at once;
  /// nothing is delivered afterwards.
  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError>
}

extension HTTPClient {
  /// Gets what is at `url`, within the limits that an ``HTTPRequest`` has by default.
  public func get(_ url: URL) -> AnyPublisher<HTTPResponse, HTTPError> { get(HTTPRequest(url)) }
}

/// A request for what is at an address, and what its answer may cost.
public struct HTTPRequest: Sendable, Equatable {
  /// One header field.
  public struct Header: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// An http or https address.
  public var url: URL
  /// How long the whole may take, from the moment it is asked for: waiting for a connection to become free, redirects
  /// and the body included. 30 seconds by default.
  public var timeout: StreamInstant.Stride
  /// How much of that finding the host, connecting and the TLS handshake may take. 10 seconds by default.
  public var connectTimeout: StreamInstant.Stride
  /// The largest body taken, in bytes, counted after decompression. 32 MiB by default.
  public var maxBodyBytes: Int
  /// Header fields beside those that HTTP itself needs. `Authorization` and `Cookie` are not sent to another host when
  /// the first redirects there.
  public var headers: [Header]

  public init(
    _ url: URL, timeout: StreamInstant.Stride = .seconds(30), connectTimeout: StreamInstant.Stride = .seconds(10),
    maxBodyBytes: Int = 32 << 20, headers: [Header] = []
  ) {
    self.url = url
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.maxBodyBytes = maxBodyBytes
    self.headers = headers
  }
}

/// A whole answer.
public struct HTTPResponse: Sendable, Equatable {
  /// The status code, whatever it is: judging it is the caller's.
  public var status: Int
  /// The header fields of the final answer.
  public var headers: HTTPHeaders
  /// The body, decompressed.
  public var body: Data
  /// Where the answer came from: the address asked for, or the last one that a redirect led to.
  public var url: URL

  public init(status: Int, headers: HTTPHeaders = [], body: Data, url: URL) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
  }
}
