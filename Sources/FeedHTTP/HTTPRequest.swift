public import FeedStream
public import Foundation

/// A request for the resource at an address, and the limits of its answer.
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
  /// The maximum duration of the request, from the moment it is asked for: waiting for a connection to become free,
  /// redirects and the body included. 30 seconds by default.
  public var timeout: StreamInstant.Stride
  /// The part of that for finding the host, connecting and the TLS handshake. 10 seconds by default.
  public var connectTimeout: StreamInstant.Stride
  /// The largest body that is accepted, in bytes, counted after decompression. 32 MiB by default.
  public var maxBodyBytes: Int
  /// Header fields in addition to those that HTTP itself needs. `Authorization` and `Cookie` are not sent to another
  /// host when the first redirects there.
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

  /// A request whose times are given as `Duration`s.
  @_documentation(visibility: internal) @_disfavoredOverload public init(
    _ url: URL, timeout: Duration, connectTimeout: Duration = .seconds(10), maxBodyBytes: Int = 32 << 20,
    headers: [Header] = []
  ) {
    self.init(
      url, timeout: StreamInstant.Stride(timeout), connectTimeout: StreamInstant.Stride(connectTimeout),
      maxBodyBytes: maxBodyBytes, headers: headers)
  }
}
