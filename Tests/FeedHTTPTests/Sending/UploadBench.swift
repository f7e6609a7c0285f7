import FeedHTTP
import FeedHTTPServer
import FeedStream
import Foundation

/// A server of ours that says what it got, and a client, on one loop.
final class UploadBench {
  struct Got: Equatable {
    var method: String
    var path: String
    var body: String
    var headers: Fields
  }

  /// Header fields as texts: those of a request are a piece of memory, which a failed expectation could not print.
  struct Fields: Equatable {
    let values: [String: String]
    subscript(name: String) -> String? { values[name.lowercased()] }
  }

  let loop = EventLoop()
  let server: HTTPServer
  let client: CurlHTTPClient
  private(set) var got: [Got] = []
  private var serving: AnyCancellable?

  /// - Parameter answer: is given what has come; 200 with `ok` unless given.
  init(
    limits: HTTPServer.Limits = HTTPServer.Limits(),
    _ answer: @escaping (HTTPServer.Request, Got) -> HTTPServer.Response = { _, _ in .text("ok") }
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

  /// Sends a request and runs the loop until its response or error is there.
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

// A failed expectation prints what it has; reflection would reach values that cannot be copied, and trap.
extension UploadBench: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
