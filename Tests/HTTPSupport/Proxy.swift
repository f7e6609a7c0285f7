import Foundation

extension RawOrigin {
  /// A proxy: opens a tunnel for CONNECT, and forwards other requests, each over a separate connection.
  ///
  /// - Parameters:
  ///   - login: the required user and password, `user:password`.
  ///   - notes: receives each request.
  static func proxy(login: String? = nil, _ notes: @escaping @Sendable (Request) -> Void) -> RawOrigin {
    let field = login.map { "Basic " + Data($0.utf8).base64EncodedString() }
    return RawOrigin { connection in
      while true {
        let request = try connection.readRequest()
        notes(request)
        guard request["Proxy-Authorization"] == field else {
          try connection.send(
            answer("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"proxy\""]))
          continue
        }
        let isTunnel = request.text.hasPrefix("CONNECT ")
        guard let url = URL(string: isTunnel ? "https://\(request.path)" : request.path), let port = url.port else {
          return try connection.send(answer("400 Bad Request"))
        }
        let server = try Connection.open(to: port)
        defer { close(server.descriptor) }
        if isTunnel {
          try connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
        } else {
          try server.send(passedOn(request, to: url))
        }
        return try connection.exchange(with: server)
      }
    }
  }

  /// The head of a request as the server receives it.
  private static func passedOn(_ request: Request, to url: URL) -> String {
    var lines = request.text.components(separatedBy: "\r\n")
    lines[0] = "\(lines[0].prefix { $0 != " " }) \(url.path) HTTP/1.1"
    lines.removeAll { $0.lowercased().hasPrefix("proxy-") }
    lines.insert("Connection: close", at: 1)
    return lines.joined(separator: "\r\n")
  }
}
