import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import TodoServer

/// The guide's API, used as clients do, in virtual time.
@Suite(.settled) struct TodoServerTests {
  /// A server, and requests to it, one after another.
  private final class World {
    let time: VirtualTimeScheduler
    let server: HTTPServer
    private let serving: AnyCancellable

    init() throws {
      let time = VirtualTimeScheduler()
      let server = try HTTPServer(at: .internet("10.0.0.1", port: 80), on: time)
      serving = server.serve(todoRoutes(try TodoStore(path: nil, on: time)))
      self.time = time
      self.server = server
    }

    func close() {
      serving.cancel()
      server.close()
      time.advance(by: .seconds(1))
    }

    /// - Returns: the status, the fields, and the body.
    func ask(
      _ line: String, _ body: String? = nil, type: String? = "application/json"
    ) -> (status: Int, fields: String, body: String) {
      var text = "\(line) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
      if let body {
        if let type { text += "Content-Type: \(type)\r\n" }
        text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
      } else {
        text += "\r\n"
      }
      var answer = ""
      let asking = Connection.connect(to: .internet("10.0.0.1", port: 80), on: time)
        .mapError { $0 as any Error }
        .flatMap { connection in
          Just(Chunk(text)).write(to: connection).mapError { $0.cause }
            .setOutputType(to: Chunk.self).append(connection.bytes.mapError { $0 as any Error })
        }
        .sink { _ in
        } receiveValue: {
          answer += $0.text
        }
      time.advance(by: .seconds(10))
      withExtendedLifetime(asking) {}
      let parts = answer.components(separatedBy: "\r\n\r\n")
      let status = Int(answer.dropFirst(9).prefix(3)) ?? 0
      return (status, parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
    }
  }

  @Test func `a todo is created, retrieved, changed and deleted`() throws {
    let world = try World()
    let made = world.ask("POST /todos", #"{"title":"Milk"}"#)
    #expect(made.status == 201)
    #expect(made.fields.contains("Location: /todos/1\r\n"))
    let whole = #"{"id":1,"title":"Milk","done":false}"#
    #expect(try same(made.body, whole))
    #expect(try same(world.ask("GET /todos/1").body, whole))
    let changed = world.ask("PATCH /todos/1", #"{"done":true}"#, type: "application/merge-patch+json")
    #expect(changed.status == 200)
    #expect(try same(changed.body, #"{"id":1,"title":"Milk","done":true}"#))
    _ = world.ask("POST /todos", #"{"title":"Tea","done":false}"#)
    #expect(try same(world.ask("GET /todos?done=true").body, #"[{"id":1,"title":"Milk","done":true}]"#))
    #expect(try same(world.ask("GET /todos?done=false").body, #"[{"id":2,"title":"Tea","done":false}]"#))
    let deleted = world.ask("DELETE /todos/1")
    #expect(deleted.status == 204 && deleted.body.isEmpty && !deleted.fields.contains("Content-Length"))
    #expect(world.ask("DELETE /todos/1").status == 404)
    #expect(world.ask("GET /todos/1").status == 404)
    world.close()
  }

  private func same(_ a: String, _ b: String) throws -> Bool {
    let values = try [a, b].map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSObject }
    return values[0] == values[1]
  }

  @Test(
    arguments: [
      ("POST /todos", #"{"title":"#, 400), ("POST /todos", "{}", 422), ("POST /todos", #"{"title":"  "}"#, 422),
      ("POST /todos", #"{"title":"a\u0000b"}"#, 422), ("PATCH /todos/1", #"{"title":"\u0000"}"#, 422),
      ("POST /todos", #"{"title":7}"#, 422), ("PATCH /todos/1", #"{"title":""}"#, 422),
      ("PATCH /todos/9", #"{"done":true}"#, 404),
      ("GET /todos/x", nil, 404), ("GET /none", nil, 404), ("GET /todos?done=maybe", nil, 400),
      ("PUT /todos/1", "{}", 405),
      ("DELETE /todos", nil, 405),
    ] as [(String, String?, Int)]) func `an invalid request gets a problem response`(
      line: String, body: String?, status: Int
    ) throws
  {
    let world = try World()
    _ = world.ask("POST /todos", #"{"title":"Milk"}"#)
    let answer = world.ask(line, body)
    #expect(answer.status == status)
    #expect(answer.fields.contains("Content-Type: application/problem+json"))
    #expect(answer.body.contains("\"status\":\(status)"))
    #expect(answer.fields.contains("Allow: ") == (status == 405))
    world.close()
  }

  @Test func `bodies other than JSON are refused, and HEAD has GET's Content-Length`() throws {
    let world = try World()
    for type in ["text/plain", "application/x-www-form-urlencoded", nil] {
      #expect(world.ask("POST /todos", #"{"title":"Milk"}"#, type: type).status == 415)
    }
    let head = world.ask("HEAD /todos")
    #expect(head.status == 200 && head.body.isEmpty && head.fields.contains("Content-Length: 2"))
    #expect(world.ask("OPTIONS /todos").fields.contains("Allow: GET, HEAD, POST, OPTIONS"))
    world.close()
  }
}
