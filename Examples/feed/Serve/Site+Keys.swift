import FeedHTTP
import FeedHTTPServer

/// The public key with which other servers verify this server's requests. Requests for the key need no token.
extension Site {
  func keys(_ request: WholeRequest) -> Reply {
    guard let signer else { return Self.failed(.notFound) }
    var response = ServerResponse.text(signer.directory)
    for field in signer.directoryFields() { response.headers[field.name] = field.value }
    return Self.now(response)
  }
}
