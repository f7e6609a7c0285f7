internal import FeedStream

extension HTTPHeaders {
  /// The fields of a request, which are parsed when they are read.
  init(_ head: RequestHead) {
    let start = head.fields.first.map { Int($0.name.start) } ?? head.bytes.count
    self.init(lines: head.bytes[start..<head.bytes.count])
  }

  /// The fields for plain text and for a page, created once.
  static let plainText: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
  static let page: HTTPHeaders = ["Content-Type": "text/html; charset=utf-8"]

  /// True if there may be a field that affects the body or the connection.
  var decideAboutBody: Bool {
    !allFields { name, _ in
      switch name.utf8.count {
      case 4: !HTTPSyntax.isSame(name, "etag")
      case 10: !HTTPSyntax.isSame(name, "connection")
      case 13: !HTTPSyntax.isSame(name, "last-modified")
      default: true
      }
    }
  }
}
