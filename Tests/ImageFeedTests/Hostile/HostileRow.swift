import Foundation
import Synchronization
import Testing

@testable import HTTPTestSupport

/// A hostile origin: its behavior, and the expected outcome.
struct HostileRow: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// The saved feed is shown instead and is unchanged, with this error message.
    case refused(String)
    /// The new feed is shown and saved, with this many images.
    case taken(Int)
  }

  let name: String
  let outcome: Outcome
  /// The deadline given, in milliseconds.
  let timeout: Int
  /// The memory that the feed itself may take, in MiB.
  let feedSize: Double
  let origin: @Sendable () throws -> Stand

  var testDescription: String { name }

  /// The server of one row.
  struct Stand {
    let url: URL
    /// A file of certificates that the command trusts; `nil` for the system's.
    var authorities: String?
    var stop: () -> Void
    /// Further expectations when all is over.
    var check: () -> Void = {}
  }

  init(
    _ name: String, _ outcome: Outcome, timeout: Int = 20_000, feedSize: Double = 0,
    stand: @escaping @Sendable () throws -> Stand
  ) {
    self.name = name
    self.outcome = outcome
    self.timeout = timeout
    self.feedSize = feedSize
    origin = stand
  }

  /// A row with a server on raw sockets.
  init(
    _ name: String, _ outcome: Outcome, timeout: Int = 20_000, feedSize: Double = 0,
    _ script: @escaping RawOrigin.Script
  ) {
    self.init(name, outcome, timeout: timeout, feedSize: feedSize) {
      let origin = RawOrigin { connection in
        try connection.readRequest()
        try script(connection)
      }
      return Stand(url: origin.url(), stop: { origin.stop() })
    }
  }

  /// A row whose server responds with this text.
  init(_ name: String, _ outcome: Outcome, sending answer: String) {
    self.init(name, outcome) { try $0.send(answer) }
  }

  /// A row with a complete response and this body.
  init(
    _ name: String, _ outcome: Outcome, feedSize: Double = 0, fields: [String] = [],
    body: @escaping @Sendable () -> Data
  ) {
    self.init(name, outcome, feedSize: feedSize) { try $0.send(RawOrigin.answer("200 OK", fields, body())) }
  }
}

/// A feed as a server sends it, with these descriptions, unescaped.
func hostileFeed(_ descriptions: [String]) -> Data {
  let items = descriptions.enumerated().map { index, text in
    let id = "73A7F70C-75DA-4C2E-B5A3-" + String(format: "%012X", index)
    return #"{"id":"\#(id)","description":"\#(text)","image":"https://a.example/\#(index)"}"#
  }
  return Data(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8)
}
