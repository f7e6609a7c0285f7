import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport

/// The example `Fetch`, as a program.
@Suite(.settled) struct FetchTests {
  private func fetch(_ arguments: String...) async throws -> FeedBinary.Ending {
    try await RunningFeed(program: FeedBinary.path(of: "Fetch"), arguments).ending()
  }

  @Test func `Fetch sends a file, and prints status, header fields and body`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "fetch-\(UUID().uuidString)").path
    try Data("hello".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let seen = Mutex<String>("")
    let origin = RawOrigin { connection in
      let request = try connection.readRequest()
      seen.withLock { $0 = request.text }
      try connection.send("HTTP/1.1 201 Created\r\nLocation: /1\r\nContent-Length: 4\r\n\r\nmade")
      connection.waitForClose()
    }
    defer { origin.stop() }
    let run = try await fetch("POST", origin.url("/a").absoluteString, "--header", "X-A: b", "--body", path)
    #expect(run.output == "201 Created\nLocation: /1\nContent-Length: 4\n\nmade")
    #expect(run.status == 0)
    let request = seen.withLock { $0 }
    #expect(request.hasPrefix("POST /a HTTP/1.1\r\n"))
    #expect(request.contains("X-A: b\r\n") && request.contains("Content-Length: 5\r\n"))
  }

  @Test func `Fetch prints the error and exits with a failure`() async throws {
    let unreachable = try await fetch("GET", "http://127.0.0.1:1/")
    #expect(unreachable.status == 1 && unreachable.output.isEmpty)
    #expect(unreachable.errors.hasPrefix("Fetch: could not connect to 127.0.0.1:1"))
    #expect(try await fetch("GET").status == 64)
    #expect(try await fetch("GET", "http://127.0.0.1:1/", "--wrong", "x").status == 64)
  }

  @Test func `Fetch prints each event on a line, and continues after a reconnection`() async throws {
    let ids = Mutex<[String?]>([])
    let origin = RawOrigin { connection in
      let id = try connection.readRequest()["Last-Event-ID"]
      ids.withLock { $0.append(id) }
      let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
      switch id {
      case nil: try connection.send(head + "retry: 10\nid: 1\nevent: a\ndata: one \"1\"\n\nid: 2\ndata: cut")
      case "1": try connection.send(head + "id: 2\ndata: two\ndata: lines\n\n")
      default: try connection.send("HTTP/1.1 204 No Content\r\n\r\n")
      }
    }
    defer { origin.stop() }
    let run = try await fetch("events", origin.url("/events").absoluteString)
    #expect(
      run.output == """
        {"data":"one \\"1\\"","event":"a","id":"1"}
        {"data":"two\\nlines","event":"message","id":"2"}

        """)
    #expect(run.status == 0)
    #expect(ids.withLock { $0 } == [nil, "1", "2"])
  }
}
