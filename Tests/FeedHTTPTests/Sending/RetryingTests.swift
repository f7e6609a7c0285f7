import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// Retries in virtual time.
@Suite(.settled) struct RetryingTests {
  private let url = URL(string: "http://example.com/")!

  @Test(.timeLimit(.minutes(5))) func `the stack stays flat after any number of retries`() async {
    await #expect(processExitsWith: .success) {
      let time = VirtualTimeScheduler()
      let origin = ScriptedOrigin(time)
      origin.answers = Array(repeating: .response(503, []), count: 20_000) + [.response(200, [])]
      let client = origin.retrying(.constant(.seconds(1)), on: time)
      let got = client.get(URL(string: "http://example.com/")!).record(on: time)
      time.advance(by: .seconds(30_000))
      exit(got.values.map(\.status) == [200] && got.completion == .finished ? 0 : 1)
    }
  }

  @Test func `a pause is as long as the policy or the server says, and the last response is delivered`() {
    withVirtualTime { time in
      let origin = ScriptedOrigin(time)
      origin.answers = [
        .response(503, []), .failure(.connect), .response(429, [("Retry-After", "9")]), .response(502, []),
        .response(200, []),
      ]
      var sent: [Int64] = []
      var tokens = 0
      let client = origin.adjusting {
        tokens += 1
        $0.headers.append(HTTPRequest.Header(name: "X-Token", value: "\(tokens)"))
      }
      .retrying(.constant(.seconds(2), limit: 3), on: time)
      let got = client.get(url).handleEvents(receiveOutput: { _ in sent.append(time.now.nanoseconds / 1_000_000_000) })
        .record(on: time)
      time.run()
      #expect(got.values.map(\.status) == [502] && got.completion == .finished)
      #expect(sent == [2 + 2 + 9] && origin.requests.count == 4)
      // Each attempt is a new request to the client.
      #expect(origin.requests.map { $0.values(of: "X-Token") } == [["1"], ["2"], ["3"], ["4"]])
    }
  }

  @Test func `the last error is delivered, and cancelling ends the retries`() {
    withVirtualTime { time in
      let origin = ScriptedOrigin(time)
      origin.answers = [.failure(.connect), .failure(.tls)]
      let client = origin.retrying(.constant(.seconds(1)), on: time)
      let got = client.get(url).record(on: time)
      time.run()
      guard case .failure(let error) = got.completion else { return #expect(Bool(false), "it succeeded") }
      #expect(error.kind == .tls && origin.requests.count == 2)
      origin.answers = [.failure(.connect)]
      let cancelled = client.get(url).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .milliseconds(2_500))
      cancelled.cancel()
      time.run()
      #expect(origin.requests.count == 5)
    }
  }
}
