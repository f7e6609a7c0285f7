import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport

/// The line that a slow load shows on a terminal.
@Suite(.settled) struct LoadProgressTests {
  private let feed = #"{"items":[{"id":"73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6","image":"https://url-1.com"}]}"#

  /// An origin that pauses before its response, and again in the middle of it.
  private func origin(pausing pause: @escaping @Sendable () -> Void) -> RawOrigin {
    let body = Data(feed.utf8)
    return RawOrigin { connection in
      try connection.readRequest()
      pause()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
      try connection.send(body.prefix(10))
      pause()
      try connection.send(body.dropFirst(10))
    }
  }

  /// - Parameter begin: reads the beginning of the output, and returns it.
  private func shown(
    loading origin: RawOrigin, terminal: Bool = true, _ begin: (Lines) async throws -> String = { _ in "" }
  ) async throws -> String {
    let cache = FileManager.default.temporaryDirectory.appending(path: "progress-\(UUID())")
    defer { try? FileManager.default.removeItem(at: cache) }
    let run = try RunningFeed(
      ["load", origin.url().absoluteString, "--cache", cache.appending(path: "feeds.db").path],
      environment: ["TERM": "xterm"], terminal: terminal)
    let beginning = try await begin(run.output)
    #expect(await run.status() == 0)
    return await beginning + run.output.rest() + (terminal ? "" : run.errors.rest())
  }

  @Test func `a load of more than a second shows its progress, and erases it afterwards`() async throws {
    let isSeen = DispatchSemaphore(value: 0)
    let origin = origin { isSeen.wait() }
    defer {
      // If the test fails, the origin still waits.
      for _ in 1...10 { isSeen.signal() }
      origin.stop()
    }
    let shown = try await shown(loading: origin) { output in
      let waiting = try #require(await output.read(upTo: "waiting for the response…"))
      isSeen.signal()
      let receiving = try #require(await output.read(upTo: "received 10 of \(feed.utf8.count) bytes…"))
      isSeen.signal()
      return waiting + receiving
    }
    #expect(shown.contains("https://url-1.com"))
    let line = try #require(shown.range(of: "\u{1B}[2m", options: .backwards))
    #expect(shown[line.upperBound...].contains("\r\u{1B}[K"), "the last one is erased")
  }

  @Test func `a quick load shows no progress, and neither does one without a terminal`() async throws {
    let quick = origin { usleep(10_000) }
    defer { quick.stop() }
    // On a busy machine, a load may take more than a second, and then shows its progress.
    var tries = 0
    while true {
      let begin = ContinuousClock.now
      let shown = try await shown(loading: quick)
      tries += 1
      if ContinuousClock.now - begin < .seconds(1) || tries == 30 {
        #expect(!shown.contains("…"))
        break
      }
    }
    let slow = origin { usleep(700_000) }
    defer { slow.stop() }
    #expect(try await !shown(loading: slow, terminal: false).contains("…"))
  }
}
