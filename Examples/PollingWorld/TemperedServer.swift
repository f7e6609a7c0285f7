import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// A server with a profile and a few feeds.
final class TemperedServer {
  /// The profile of a server: its behavior.
  enum Temper: String, CaseIterable {
    /// Sends an `ETag` that changes only with the feed.
    case tagged
    /// Sends only `Last-Modified`, in an unusual format.
    case dated
    /// Sends a new `ETag` with each response, even with a 304.
    case restless
    /// Sends the lifetime of a response, with `max-age` and `Age`.
    case fresh
    /// Sends the lifetime with `Expires`, in an old format.
    case expiring
    /// Sends its schedule in the document: how often it changes, and when it doesn't.
    case scheduled
    /// Sometimes responds with status 429, and with the length of the pause in seconds.
    case strict
    /// Is sometimes overloaded (status 503), and gives the end of the pause in one of three date formats, or not at
    /// all.
    case overloaded
    /// Fails, drops connections, doesn't respond, and challenges robots.
    case flaky
    /// Sends no validators, but sends the same bytes again.
    case plain
    /// Keeps responding that nothing has changed, except to unconditional requests.
    case stubborn
    /// Disappears after a while: 404 for weeks, then 410.
    case leaving
  }

  let temper: Temper
  let host: String
  private var version: [Int: Int] = [:]
  private var answers = 0

  init(_ temper: Temper) {
    self.temper = temper
    host = "\(temper.rawValue).example"
  }

  func address(_ number: Int) -> URL { URL(string: "https://\(host)/feed/\(number)")! }

  func change(_ number: Int) { version[number, default: 0] += 1 }

  /// The number of the feed at a URL.
  private func number(_ url: URL) -> Int { Int(url.lastPathComponent) ?? 0 }

  private func etag(_ number: Int) -> String { "W/\"\(number)-\(version[number, default: 0])\"" }
  private func date(_ number: Int) -> String {
    "Thu,  01-Jan-\(70 + version[number, default: 0] % 30) 00:00:0\(number)"
  }

  private func body(_ number: Int) -> Data {
    let version = version[number, default: 0]
    let items = (0..<10).map { index in
      """
      <item><guid>\(version)-\(index)</guid><title>Item \(index) of version \(version)</title>
      <enclosure url="https://\(host)/\(number)/\(version)/\(index).jpg" type="image/jpeg" length="1"/></item>
      """
    }
    let hints =
      temper == .scheduled
      ? "<ttl>90</ttl><skipHours><hour>0</hour><hour>1</hour><hour>2</hour></skipHours><skipDays><day>Sunday</day></skipDays>"
      : ""
    return Data("<rss version=\"2.0\"><channel><title>A feed</title>\(hints)\(items.joined())</channel></rss>".utf8)
  }

  /// - Parameter now: the second of the year, which determines the server's clock and its seasons.
  func reply(_ request: HTTPRequest, at now: Double, wall: Date, _ random: inout SeededGenerator) -> VirtualReply {
    answers += 1
    let number = number(request.url)
    let latency = StreamInstant.Stride.milliseconds(Int.random(in: 20...300, using: &random))
    if let reply = moodyReply(now, wall, latency, &random) { return reply }
    var headers: [(name: String, value: String)] = []
    switch temper {
    case .plain: break
    case .dated: headers = [("Last-Modified", date(number))]
    default: headers = [("ETag", etag(number)), ("Last-Modified", date(number))]
    }
    let given = Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
    let isSame =
      switch temper {
      case .plain: false
      case .dated: given["if-modified-since"] == date(number)
      // Compare only the date, because the `ETag` changes with each response.
      case .restless: given["if-modified-since"] == date(number)
      case .stubborn: !given.isEmpty
      default: given["if-none-match"] == etag(number)
      }
    if temper == .restless { headers[0].value = "\"\(number)-\(answers)\"" }
    switch temper {
    case .fresh: headers += [("Cache-Control", "public, max-age=14400"), ("Age", "\(answers % 3600)")]
    case .expiring:
      headers += [("Date", HTTPDate.text(wall)), ("Expires", Self.asctime(wall + 7200))]
    default: break
    }
    return .answer(
      status: isSame ? 304 : 200, headers: HTTPHeaders(headers), isSame ? Data() : body(number), after: latency)
  }

  /// A response that isn't a feed, if the profile calls for one now.
  private func moodyReply(
    _ now: Double, _ wall: Date, _ latency: StreamInstant.Stride, _ random: inout SeededGenerator
  ) -> VirtualReply? {
    let luck = Int.random(in: 0..<1000, using: &random)
    switch temper {
    case .strict where luck < 30:
      return .answer(status: 429, headers: [("Retry-After", "\(1000 + luck * 500)")], Data(), after: latency)
    case .overloaded where luck < 40:
      let end = wall + 7200
      let forms = [HTTPDate.text(end), Self.rfc850(end), Self.asctime(end)]
      return .answer(
        status: 503, headers: luck % 4 == 3 ? [] : [("Retry-After", forms[luck % 4])], Data(), after: latency)
    case .flaky:
      switch luck {
      case 0..<100: return .answer(status: 500, Data("down".utf8), after: latency)
      case 100..<150: return .drop(.receive, after: latency)
      case 150..<200: return .silence
      case 200..<250: return .answer(status: 403, headers: [("cf-mitigated", "challenge")], Data(), after: latency)
      case 250..<280: return .answer(Data("<!doctype html><title>Log in</title>".utf8), after: latency)
      case 280..<300: return .drop(.connect, after: latency)
      default: return nil
      }
    case .leaving where now > 200 * 86_400: return .answer(status: 410, Data(), after: latency)
    case .leaving where now > 150 * 86_400: return .answer(status: 404, Data(), after: latency)
    default: return nil
    }
  }

  private static func asctime(_ date: Date) -> String {
    let parts = HTTPDate.text(date).split(separator: " ")
    let day = parts[1].hasPrefix("0") ? " \(parts[1].dropFirst())" : parts[1]
    return "\(parts[0].dropLast()) \(parts[2]) \(day) \(parts[4]) \(parts[3])"
  }

  private static func rfc850(_ date: Date) -> String {
    let parts = HTTPDate.text(date).split(separator: " ")
    let names = ["Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday"]
    let day = names[String(parts[0].dropLast())] ?? (parts[0].hasPrefix("Sat") ? "Saturday" : "Sunday")
    return "\(day), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
  }
}
