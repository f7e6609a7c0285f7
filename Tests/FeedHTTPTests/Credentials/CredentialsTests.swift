import FeedHTTP
import FeedStream
import Foundation
import TestSupport
import Testing

/// Credentials: sent to one origin, and never shown.
@Suite(.settled) struct CredentialsTests {
  @Test func `basic and bearer credentials are encoded as in RFC 7617 and RFC 6750`() {
    let header = Credentials.basic(user: "Aladdin", password: "open sesame").header
    #expect(header == HTTPRequest.Header(name: "Authorization", value: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))
    #expect(Credentials.bearer("x").header.value == "Bearer x")
  }

  @Test func `printed requests and credentials contain no secrets`() throws {
    let credentials = Credentials.basic(user: "name", password: "secret")
    var request = HTTPRequest(try #require(URL(string: "http://example.com/")))
    request.headers = [
      credentials.header, Credentials.bearer("secret").header, .init(name: "X-Key", value: "secret"),
      .init(name: "Accept", value: "text/a"),
    ]
    var dumped = ""
    dump(request, to: &dumped)
    dump(credentials, to: &dumped)
    for text in ["\(credentials)", String(reflecting: credentials), "\(request)", String(reflecting: request), dumped] {
      #expect(!text.contains("secret") && !text.contains(credentials.header.value), "\(text)")
    }
    #expect("\(request)".contains("Accept: text/a"))
  }

  @Test func `header fields are sent to their origin only`() throws {
    final class Listener: HTTPClient {
      var requests: [HTTPRequest] = []
      func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
        requests.append(request)
        return Empty().eraseToAnyPublisher()
      }
    }
    let listener = Listener()
    let origin = try #require(URL(string: "https://example.com/feed"))
    let secret = HTTPRequest.Header(name: "X-Key", value: "secret")
    let client = listener.sending([secret], to: origin)
    for same in ["https://example.com/", "https://EXAMPLE.com:443/other"] {
      _ = client.get(try #require(URL(string: same)))
      #expect(listener.requests.last?.headers == [secret], "\(same)")
    }
    for other in ["http://example.com/feed", "https://example.com:8443/feed", "https://www.example.com/feed"] {
      _ = client.get(try #require(URL(string: other)))
      #expect(listener.requests.last?.headers == [], "\(other)")
    }
    let own = HTTPRequest.Header(name: "x-key", value: "own")
    _ = client.get(HTTPRequest(origin, headers: [own]))
    #expect(listener.requests.last?.headers == [own])
  }
}

@Suite(.settled) struct NetrcTests {
  @Test func `netrc entries are found by host, and default applies to all other hosts`() throws {
    let netrc = try Netrc(
      text: """
        # a comment
        machine example.com login a password b # another
        machine other.example
          login "c d"
          password "e \\"f\\""
          account g
        macdef init
          machine never.example login x

        machine EXAMPLE.com login second password second
        default login h password i
        """)
    #expect(netrc.credentials(for: "Example.COM") == .basic(user: "a", password: "b"))
    #expect(netrc.credentials(for: "other.example") == .basic(user: "c d", password: "e \"f\""))
    #expect(netrc.credentials(for: "never.example") == .basic(user: "h", password: "i"))
    #expect(try Netrc(text: "").credentials(for: "example.com") == nil)
    #expect(try Netrc(text: "machine example.com").credentials(for: "example.com") == nil)
  }

  @Test(arguments: ["machine a\nlogni b", "login a", "machine a login \"b", "\u{FF}\n{}"])
  func `the error for an invalid netrc file doesn't quote its contents`(text: String) throws {
    let error = #expect(throws: Netrc.Failure.self) { try Netrc(text: text) }
    #expect(error.map { !"\($0)".contains("b") || !"\($0)".contains("logni") } == true)
  }

  @Test func `lines of a netrc file may end with CR and LF`() throws {
    let netrc = try Netrc(text: "# a comment\r\nmachine a login b # another\r\npassword c\r\n")
    #expect(netrc.credentials(for: "a") == .basic(user: "b", password: "c"))
  }

  @Test func `a netrc file that other users can read is refused`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "netrc-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data("machine a login b password c".utf8).write(to: URL(filePath: path))
    chmod(path, 0o644)
    #expect(throws: Netrc.Failure.readableByOthers(path: path)) { try Netrc(path: path) }
    chmod(path, 0o600)
    #expect(try Netrc(path: path).credentials(for: "a") == .basic(user: "b", password: "c"))
    #expect(throws: Netrc.Failure.self) { try Netrc(path: path + "-missing") }
  }
}
