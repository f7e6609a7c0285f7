import FeedStream
import FeedStreamTesting
import Foundation
import Testing

@testable import FeedHTTP

/// A rule of RFC 9111: the effect of one stored response on the next request.
struct CacheRule: Sendable, CustomTestStringConvertible {
  enum Expected: Sendable, Equatable {
    /// The next request is served from the store.
    case used
    /// The next request reaches the server without conditions.
    case asked
    /// The next request reaches the server with these conditions.
    case validated([String])
  }

  var name: String
  var status = 200
  /// The first request's fields.
  var sent: [(String, String)] = []
  /// The first response's fields; `{n}` is the date n seconds after the beginning.
  var fields: [(String, String)] = []
  /// The seconds until the next request.
  var wait: Double = 1
  /// The next request's fields.
  var then: [(String, String)] = []
  /// The seconds that the first response takes.
  var latency: Double = 0
  var expected: Expected

  var testDescription: String { name }

  /// Plays both requests, and checks the result.
  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.latency = .nanoseconds(Int(latency * 1e9))
      world.origin.answers = [.response(status, fields, "first"), .response(200, [], "second")]
      world.get(world.request(sent))
      world.wait(wait)
      let got = world.get(world.request(then))
      let outcome: Expected
      if world.origin.requests.count == 1 {
        outcome = .used
        #expect(got.body == "first" && got.status == status, sourceLocation: sourceLocation)
        #expect(got.headers.values(of: "Age").count == 1, "its age is there, once", sourceLocation: sourceLocation)
      } else {
        let conditions = ["If-None-Match", "If-Modified-Since"].flatMap { name in
          world.origin.requests[1].values(of: name).map { "\(name): \($0)" }
        }
        outcome = conditions.isEmpty ? .asked : .validated(conditions)
        #expect(got.body == "second", sourceLocation: sourceLocation)
      }
      let wanted: Expected =
        if case .validated(let conditions) = expected {
          .validated(conditions.map(CacheWorld.expanded))
        } else {
          expected
        }
      #expect(outcome == wanted, "\(name)", sourceLocation: sourceLocation)
    }
  }
}

extension CacheRule {
  /// A rule about the fields of the first response.
  static func answer(
    _ name: String, _ fields: [(String, String)], wait: Double = 1, _ expected: Expected
  ) -> CacheRule {
    CacheRule(name: name, fields: fields, wait: wait, expected: expected)
  }

  /// A rule about `Cache-Control` of the first response.
  static func control(_ name: String, _ value: String, wait: Double = 1, _ expected: Expected) -> CacheRule {
    answer(name, [("Date", "{0}"), ("Cache-Control", value)], wait: wait, expected)
  }
}
