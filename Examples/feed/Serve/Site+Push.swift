import FeedHTTPServer
import FeedPolling
import FeedStream

/// The requests of hubs, which have no token: the path is their secret, and each announcement is signed.
extension Site {
  /// The path below which hubs reach this server.
  static let pushPath = "/websub/"

  /// True for a callback's path, to the letter: nothing else is let in without a token.
  static func isPush(_ path: String) -> Bool {
    path.hasPrefix(pushPath)
      && path.utf8.dropFirst(pushPath.utf8.count).allSatisfy { byte in
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
      }
  }

  static func addPush(_ hubs: HubSubscriber, to routes: inout HTTPServer.Routes) {
    routes.get(pushPath + ":name") { request -> AnyPublisher<HTTPServer.Response, HTTPServer.Status> in
      Just(response(hubs.verify(request.parameters["name"] ?? "") { request.query($0) }))
        .setFailureType(to: HTTPServer.Status.self).eraseToAnyPublisher()
    }
    routes.on(.post, pushPath + ":name") { request -> AnyPublisher<HTTPServer.Response, HTTPServer.Status> in
      let (name, signature) = (request.parameters["name"] ?? "", request.headers["X-Hub-Signature"])
      return request.body.whole()
        .map { response(hubs.announce(name, $0, signature: signature)) }
        .mapError { _ in HTTPServer.Status.badRequest }
        .eraseToAnyPublisher()
    }
  }

  private static func response(_ reply: HubSubscriber.Reply) -> HTTPServer.Response {
    .text(reply.text, HTTPServer.Status(reply.status))
  }
}
