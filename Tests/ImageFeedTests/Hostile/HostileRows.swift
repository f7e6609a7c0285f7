import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport

private let cutShort = HostileRow.Outcome.refused("was cut short")
private let tooLarge = HostileRow.Outcome.refused("is larger than the limit of 32 MiB")
private let notAFeed = HostileRow.Outcome.refused("is not a feed")
private let tooManyFields = HostileRow.Outcome.refused("the header of the response from")
private let broke = HostileRow.Outcome.refused("broke before the response was complete")
/// The MiB of a body that are accepted before it is refused.
private let limit = 32.0

let transportRows: [HostileRow] = [
  HostileRow("an endless body", notAFeed) { connection in
    try connection.send("HTTP/1.1 200 OK\r\n\r\n")
    while true { try connection.send(Data(count: 65_536)) }
  },
  HostileRow("endless JSON", tooLarge, feedSize: 2 * limit) { connection in
    try connection.send("HTTP/1.1 200 OK\r\n\r\n[")
    while true { try connection.send(Data(repeating: 0x20, count: 65_536)) }
  },
  bomb("a gzip bomb", "gzip", Compression.gzip),
  bomb("a brotli bomb", "br", Compression.brotli),
  bomb("a zstd bomb", "zstd", Compression.zstd),
  HostileRow("headers without end, in number", tooManyFields) { connection in
    try connection.send("HTTP/1.1 200 OK\r\n")
    while true { try connection.send("X: y\r\n") }
  },
  HostileRow("headers without end, in size", tooManyFields) { connection in
    try connection.send("HTTP/1.1 200 OK\r\nX: ")
    while true { try connection.send(String(repeating: "y", count: 10_000)) }
  },
  HostileRow("one byte at a time, in the header", .refused("took too long"), timeout: 500) { connection in
    while true { try trickle("HTTP/1.1 200 OK\r\nX: ", connection) }
  },
  HostileRow("one byte at a time, in the body", .refused("took too long to send its response"), timeout: 3_000) {
    try $0.send("HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")
    while true { try trickle("          ", $0) }
  },
  HostileRow(
    "a body shorter than announced", cutShort, sending: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"items\":[]}"),
  HostileRow(
    "a chunked body cut before its end", cutShort,
    sending: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{\"items\":[]}\r\n"),
  HostileRow("a cut gzip stream", cutShort, fields: ["Content-Encoding: gzip"]) {
    Compression.gzip(hostileFeed(["cut"])).dropLast(4)
  },
  HostileRow("a connection closed immediately", broke) { _ in },
  HostileRow("a reset in the body", .refused("again")) { connection in
    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":")
    connection.reset()
  },
  HostileRow("refused", .refused("connection refused; check that the server is running and the port is right")) {
    let port = try! ReservedPort()
    return HostileRow.Stand(url: URL(string: "http://127.0.0.1:\(port.number)/feed")!, stop: { _ = port })
  },
  HostileRow("black-holed", .refused("took too long: the limit is"), timeout: 500) {
    let hole = BlackHole()
    return HostileRow.Stand(url: hole.url, stop: { hole.close() })
  },
  HostileRow("something that is not HTTP", .refused("doesn't speak valid HTTP"), sending: "SSH-2.0-OpenSSH_9.2\r\n"),
  HostileRow("endless 1xx", tooManyFields) { connection in
    while true { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
  },
  redirect("a redirect loop", .refused("redirects more than 10 times"), to: "/feed"),
  redirect("a redirect to file:", .refused("redirects to a URL that isn't followed"), to: "file:///etc/passwd"),
  redirect("a redirect to ftp:", .refused("redirects to a URL that isn't followed"), to: "ftp://127.0.0.1/feed"),
  redirect("a redirect to gopher:", .refused("redirects to a URL that isn't followed"), to: "gopher://127.0.0.1:70/1"),
  HostileRow("a redirect to another host, with credentials", .taken(1)) {
    let seen = Mutex<RawOrigin.Request?>(nil)
    let other = RawOrigin.answering { request in
      seen.withLock { $0 = request }
      return RawOrigin.answer("200 OK", [], hostileFeed(["new"]))
    }
    let target = "http://localhost:\(other.port)/feed"
    let origin = RawOrigin.answering { _ in RawOrigin.answer("302 Found", ["Location: \(target)"]) }
    let url = URL(string: "http://user:secret@127.0.0.1:\(origin.port)/feed")!
    return HostileRow.Stand(url: url) {
      origin.stop()
      other.stop()
    } check: {
      #expect(seen.withLock { $0 } != nil && seen.withLock { $0?["Authorization"] } == nil)
    }
  },
]

private func bomb(_ name: String, _ coding: String, _ compress: @escaping @Sendable (Data) -> Data) -> HostileRow {
  HostileRow(name, notAFeed, fields: ["Content-Encoding: \(coding)"]) {
    compress(Data(count: 64 << 20))
  }
}

private func redirect(_ name: String, _ outcome: HostileRow.Outcome, to target: String) -> HostileRow {
  HostileRow(name, outcome) {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("302 Found", ["Location: \(target)"]) }
    return HostileRow.Stand(url: origin.url(), stop: { origin.stop() })
  }
}

private func trickle(_ text: String, _ connection: RawOrigin.Connection) throws {
  for byte in text.utf8 {
    try connection.send(Data([byte]))
    usleep(5_000)
  }
}

let trustRows: [HostileRow] = [
  certificate("a self-signed certificate", "self-signed certificate", host: "localhost", isTrusted: false),
  certificate("an expired certificate", "certificate has expired", host: "localhost", isExpired: true),
  certificate("a certificate for another host", "no alternative certificate subject name", host: "feeds.example"),
  HostileRow("a server without TLS behind https:", .refused("doesn't speak TLS; try http://")) {
    let origin = RawOrigin { try $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
    return HostileRow.Stand(url: URL(string: "https://127.0.0.1:\(origin.port)/feed")!) {
      origin.stop()
    } check: {
      #expect(origin.accepted == 1, "it is not tried again, insecurely or otherwise")
    }
  },
]

private func certificate(
  _ name: String, _ reason: String, host: String, isExpired: Bool = false, isTrusted: Bool = true
) -> HostileRow {
  HostileRow(name, .refused(reason)) {
    let origin = try SecureOrigin(host: host, isExpired: isExpired)
    return HostileRow.Stand(
      url: origin.url, authorities: isTrusted ? origin.certificate : nil, stop: { origin.stop() })
  }
}

let payloadRows: [HostileRow] = [
  HostileRow(
    "a login page with status 200", .refused("The server sent a web page"), fields: ["Content-Type: text/html"]
  ) {
    Data("<!DOCTYPE html><title>Log in</title>".utf8)
  },
  HostileRow("a wrong charset", .taken(1), fields: ["Content-Type: application/json; charset=iso-8859-1"]) {
    hostileFeed(["Zürich"])
  },
  HostileRow("a byte order mark", .taken(1)) { Data([0xEF, 0xBB, 0xBF]) + hostileFeed(["a"]) },
  HostileRow("UTF-16", .taken(1)) { String(decoding: hostileFeed(["a"]), as: UTF8.self).data(using: .utf16)! },
  HostileRow("invalid UTF-8", .refused("is not JSON")) { hostileFeed(["a"]) + Data([0xFF, 0xC0, 0x80]) },
  HostileRow("Latin-1", .refused("is not JSON")) {
    String(decoding: hostileFeed(["Zürich"]), as: UTF8.self).data(using: .isoLatin1)!
  },
  HostileRow("NUL bytes", .refused("is not JSON")) { hostileFeed(["a\0b"]) },
  HostileRow("nothing but NUL bytes", .refused("is not a feed")) { Data(count: 1_000) },
  HostileRow("100,000 nested arrays", .refused("The server's response is not")) {
    Data(String(repeating: "[", count: 100_000).utf8)
  },
  HostileRow("100,000 nested arrays in a feed", .refused("The server's response is not")) {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    return Data(#"{"items": [], "x": \#(deep)}"#.utf8)
  },
  HostileRow("numbers out of range", .refused("The server's response is not")) {
    Data(#"{"items":[{"id":1e999999,"image":99999999999999999999999999}]}"#.utf8)
  },
  HostileRow("duplicate ids", .taken(2)) {
    let item = #"{"id":"73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6","image":"https://a.example"}"#
    return Data(#"{"items":[\#(item),\#(item)]}"#.utf8)
  },
  // 12 MB of text, and the memory of the images.
  HostileRow("100,000 items", .taken(100_000), feedSize: 100) {
    hostileFeed((0..<100_000).map { "image number \($0)" })
  },
]
