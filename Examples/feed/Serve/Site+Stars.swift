import FeedHTTPServer
import FeedStream
import ImageFeed

/// Stars, set by the page's script or by a form.
extension Site {
  private struct StarForm: Decodable {
    let card: String
    /// See ``Gallery/formKey``.
    let key: String
    /// The URL of the page with the form.
    let back: String
  }

  func star(_ request: WholeRequest) -> Reply {
    // A page on another site can send a form, but not this header.
    if request.headers["X-Feed"] == "star", let card = request.query("card") {
      return star(request.query("on") == "1", card, then: .text("", .ok))
    }
    guard request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true else {
      return Self.failed(.forbidden)
    }
    guard let form = try? request.decoded(as: StarForm.self, from: [.form]) else { return Self.failed(.badRequest) }
    guard form.key == gallery.formKey, let entry = gallery.entry(card: form.card), Self.isHere(form.back) else {
      return Self.failed(.forbidden)
    }
    let back = ServerResponse.redirect(to: "\(form.back)#p\(entry.card)")
    return star(!gallery.isStarred(entry), form.card, then: back)
  }

  private func star(_ isOn: Bool, _ card: String, then response: ServerResponse) -> Reply {
    guard let history else { return Self.failed(.forbidden) }
    let keep = { [images, warn] (image: Gallery.Named) in images.keep(image, reportingTo: warn) }
    return history.setStar(isOn, card: card, keep: keep)
      .mapError { _ in .internalServerError }
      .flatMap { isDone -> Reply in isDone ? Self.now(response) : Self.failed(.notFound) }
      .eraseToAnyPublisher()
  }

  /// True for a path on this server, with or without a query.
  static func isHere(_ place: String) -> Bool {
    place.hasPrefix("/") && !place.hasPrefix("//") && place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }
  }
}
