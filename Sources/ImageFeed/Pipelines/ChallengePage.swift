import Foundation

/// Recognizes the page that a server sends instead of a feed to make visitors prove that they are human.
///
/// Such a page is reported, and its challenge is never solved.
enum ChallengePage {
  /// The number of bytes within which a challenge can be recognized.
  static let prefix = 16 << 10

  /// The statuses of challenges that can be distinguished from other refusals only by their page.
  private static let statuses = [401, 403, 405, 429, 503]

  /// Parts of pages that stay the same for years: paths that the protection services reserve, and elements of their
  /// scripts.
  private static let marks = [
    // Cloudflare
    "/cdn-cgi/challenge-platform/", "cf-chl-", "Just a moment...",
    // Anubis, go-away
    "/.within.website/x/cmd/anubis/", "id=\"anubis_challenge\"", "/.well-known/.git.gammaspectra.live/git/go-away/",
    // DDoS-Guard, Imperva, DataDome
    "/.well-known/ddos-guard/", "/_Incapsula_Resource?", "captcha-delivery.com/",
  ].map { Data($0.utf8) }

  /// True if the response has the header fields with which Cloudflare or AWS WAF announces a challenge, as documented
  /// by each.
  static func isAnnounced(in headers: HTTPHeaders) -> Bool {
    if headers["cf-mitigated"]?.lowercased() == "challenge" { return true }
    return headers["x-amzn-waf-action"].map { ["challenge", "captcha"].contains($0.lowercased()) } ?? false
  }

  /// True if the body must be read to tell whether a response that isn't a document is a challenge.
  static func isPossible(_ status: Int, _ headers: HTTPHeaders) -> Bool {
    guard statuses.contains(status) else { return false }
    return headers["Content-Type"].map { $0.lowercased().hasPrefix("text/html") } ?? true
  }

  /// True if the beginning of a page has a challenge's mark.
  static func isChallenge(_ page: Data) -> Bool {
    let beginning = page.prefix(prefix)
    return marks.contains { beginning.range(of: $0) != nil }
  }
}
