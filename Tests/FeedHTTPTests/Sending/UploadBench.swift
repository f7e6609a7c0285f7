import FeedHTTP
import FeedHTTPServer
import FeedStream
import Foundation

/// A server of this package that records its requests, and a client, on one loop.
final class UploadBench {
  struct Got: Equatable {
    var method: String
    var path: String
    var body: String
    var headers: Fields
  }

  /// Header fields as text, because a failed expectation can't print a request's own fields, which are raw memory.
  struct Fields: Equatable {
    let values: [String: String]
    subscript(name: String) -> String? { values[name.lowercased()] }
  }

  let loop = EventLoop()
  let server: HTTPServer
  let client: CurlHTTPClient
  private(set) var got: [Got] = []
  private var serving: AnyCancellable?

  /// - Parameter answer: returns the response to a request; by default, status 200 with `ok`.
  init(
    limits: HTTPServerLimits = HTTPServerLimits(),
    _ answer: @escaping (ServerRequest, Got) -> ServerResponse = { _, _ in .text("ok") }
  ) throws {
    server = try HTTPServer(at: .internet("127.0.0.1", port: 0), limits: limits, on: loop)
    var configuration = CurlHTTPClient.Configuration()
    configuration.usesProxies = false
    client = CurlHTTPClient(on: loop, configuration)
    serving = server.serve { [unowned self] request in
      request.body.whole().map { [unowned self] body in
        let got = Got(
          method: request.method.rawValue, path: request.target, body: body.text,
          headers: Fields(
            values: Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }))
        self.got.append(got)
        return answer(request, got)
      }
    }
  }

  deinit {
    serving = nil
    server.close()
    client.close()
    loop.close()
  }

  func url(_ path: String = "/") -> URL { URL(string: "http://127.0.0.1:\(server.address!.port ?? 0)\(path)")! }

  /// Sends a request, and runs the loop until its response or error arrives.
  func send(_ request: HTTPRequest, with client: (any HTTPClient)? = nil) -> Result<HTTPResponse, HTTPError>? {
    var result: Result<HTTPResponse, HTTPError>?
    let sending = (client ?? self.client).send(request).sink { [loop] completion in
      if case .failure(let error) = completion { result = .failure(error) }
      loop.stop()
    } receiveValue: {
      result = .success($0)
    }
    loop.run()
    withExtendedLifetime(sending) {}
    return result
  }
}

// A failed expectation prints its values, and reflection would trap at values that can't be copied.
extension UploadBench: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
