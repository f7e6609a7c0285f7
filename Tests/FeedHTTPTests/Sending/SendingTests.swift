import FeedHTTPServer
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct SendingTests {
  private let folder = TemporaryFolder()

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
  func `a body is sent with any method`(method: String) throws {
    let bench = try UploadBench()
    let request = HTTPRequest(HTTPMethod(rawValue: method), bench.url("/a"), body: .text("hello"))
    if method == "PROPFIND" {
      #expect(try bench.send(request)?.get().status == 200)
    } else {
      #expect(try bench.send(request)?.get().body == Data("ok".utf8))
    }
    #expect(bench.got.map(\.method) == [method])
    #expect(bench.got.first?.body == "hello")
    #expect(bench.got.first?.headers["Content-Length"] == "5")
    #expect(bench.got.first?.headers["Content-Type"] == "text/plain; charset=utf-8")
    #expect(bench.got.first?.headers["Expect"] == nil)
  }

  @Test(arguments: ["text/plain\r\nX-Evil: 1", "a\nb", "a\u{0}b"])
  func `a body's type that HTTP does not allow is refused`(type: String) throws {
    let bench = try UploadBench()
    let bodies = [HTTPBody.text("abc", type: type), .multipart([.text("a", "b")], boundary: type)]
    for body in bodies {
      let error = #expect(throws: HTTPError.self) { try bench.send(HTTPRequest(.post, bench.url(), body: body))?.get() }
      #expect(error?.kind == .invalidRequest)
    }
    #expect(bench.got.isEmpty)
  }

  @Test func `a body that is not as empty as announced fails the request`() throws {
    let bench = try UploadBench()
    let stream = HTTPBody.stream(Just(Chunk("hello")), length: 0)
    let error = #expect(throws: HTTPError.self) {
      try bench.send(HTTPRequest(.put, bench.url(), body: stream))?.get()
    }
    #expect(error?.kind == .body, "\(String(describing: error))")
    let empty = HTTPBody.stream(Empty<Chunk, Never>(), length: 0)
    #expect(try bench.send(HTTPRequest(.put, bench.url(), body: empty))?.get().status == 200)
    #expect(bench.got.last?.body == "")
  }

  @Test func `after 417 the body is sent without waiting, and other requests wait as before`() throws {
    let bench = try UploadBench()
    var seen: [String] = []
    var limits = HTTPServerLimits()
    limits.bodyBytes = 4 << 20
    let large = try HTTPServer(at: .internet("127.0.0.1", port: 0), limits: limits, on: bench.loop)
    let serves = large.serve { request -> AnyPublisher<ServerResponse, any Error> in
      seen.append("\(request.path) \(request.headers["Expect"] ?? "-")")
      guard request.path != "/refuses" || request.headers["Expect"] == nil else {
        return Fail(error: HTTPStatus.expectationFailed).eraseToAnyPublisher()
      }
      return request.body.whole().map { .text("\($0.count)") }.eraseFailureType().eraseToAnyPublisher()
    }
    let root = URL(string: "http://127.0.0.1:\(large.address!.port ?? 0)")!
    for path in ["refuses", "accepts", "accepts"] {
      let body = HTTPBody.bytes(Data(count: 2 << 20))
      let response = try bench.send(HTTPRequest(.put, root.appending(path: path), body: body))?.get()
      #expect(response?.status == 200 && response?.body == Data("\(2 << 20)".utf8), "\(path)")
    }
    #expect(
      seen == ["/refuses 100-continue", "/refuses -", "/accepts 100-continue", "/accepts 100-continue"], "\(seen)")
    serves.cancel()
    large.close()
  }

  @Test(arguments: [true, false])
  func `a server that refuses to give its consent gets the request once more`(keepsConnection: Bool) throws {
    let seen = Mutex<[String]>([])
    let origin = RawOrigin { connection in
      while true {
        let request = try connection.readRequest()
        seen.withLock { $0.append(request["Expect"] ?? "-") }
        if request["Expect"] == nil {
          // The bodies end as a header does.
          try connection.readRequest()
          try connection.send(RawOrigin.answer("200 OK", [], Data("done".utf8)))
        } else {
          let fields = keepsConnection ? [] : ["Connection: close"]
          try connection.send(RawOrigin.answer("417 Expectation Failed", fields, Data("refused".utf8)))
          guard keepsConnection else { return }
        }
      }
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let bodies = [
      HTTPBody.text("whole\r\n\r\n"), .stream(Just(Chunk("once"))), .stream(Just(Chunk("once\r\n\r\n")), length: 8),
      .repeatable { Just(Chunk("again")) },
    ]
    for body in bodies {
      var request = HTTPRequest(.post, origin.url(), body: body)
      request.expectsContinue = true
      #expect(bench.run(request).response?.body == Data("done".utf8))
    }
    #expect(seen.withLock { $0 } == bodies.flatMap { _ in ["100-continue", "-"] })
  }

  @Test func `417 is the response to a request without Expect, and fails a request that can't be repeated`() throws {
    let seen = Mutex<[String]>([])
    let origin = RawOrigin { connection in
      let request = try connection.readRequest()
      seen.withLock { $0.append(request.path) }
      if request["Expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
      try connection.readRequest()
      try connection.send(RawOrigin.answer("417 Expectation Failed", ["Connection: close"]))
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    #expect(bench.run(HTTPRequest(.post, origin.url("/a"), body: .text("\r\n\r\n"))).response?.status == 417)
    var late = HTTPRequest(.post, origin.url("/b"), body: .text("\r\n\r\n"))
    late.expectsContinue = true
    #expect(bench.run(late).error?.kind == .body)
    #expect(seen.withLock { $0 } == ["/a", "/b"])
  }

  @Test func `a server that refuses its consent after the body was begun gets the request once more`() throws {
    let seen = Mutex<[String]>([])
    let origin = RawOrigin { connection in
      while true {
        let request = try connection.readRequest()
        seen.withLock { $0.append(request["Expect"] ?? "-") }
        // The first request is accepted, which must not count for the second one.
        if request.path == "/a" { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        // The bodies end as a header does. Without consent, this one comes after a second.
        try connection.readRequest()
        let isRefused = request.path == "/b" && request["Expect"] != nil
        try connection.send(RawOrigin.answer(isRefused ? "417 Expectation Failed" : "200 OK"))
      }
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    for path in ["/a", "/b"] {
      var request = HTTPRequest(.post, origin.url(path), body: .text("\r\n\r\n"))
      request.expectsContinue = true
      #expect(bench.run(request).response?.status == 200)
    }
    #expect(seen.withLock { $0 } == ["100-continue", "100-continue", "-"])
  }

  @Test func `an empty file is sent with its length, and one whose length is unknown in chunks`() throws {
    let bench = try UploadBench()
    let empty = folder.file("empty")
    try Data().write(to: URL(filePath: empty))
    // The system reports no bytes for the second file, and more than there are for the third, if it exists.
    let paths = [empty, "/proc/self/cmdline", "/sys/devices/system/cpu/online"]
      .filter { FileManager.default.fileExists(atPath: $0) }
    for path in paths {
      #expect(try bench.send(HTTPRequest(.put, bench.url(), body: .file(path)))?.get().status == 200)
    }
    #expect(bench.got.map { $0.headers["Content-Length"] } == paths.map { $0 == empty ? "0" : nil })
    #expect(bench.got[0].body == "" && bench.got.dropFirst().allSatisfy { !$0.body.isEmpty })
  }

  @Test func `a URL without a host is refused`() throws {
    let bench = try UploadBench()
    let error = #expect(throws: HTTPError.self) { try bench.send(HTTPRequest(URL(string: "http:///x")!))?.get() }
    #expect(error?.kind == .invalidRequest)
  }

  @Test func `POST, PUT and PATCH without a body send Content-Length: 0`() throws {
    let bench = try UploadBench()
    for method in [HTTPMethod.post, .put, .patch, .delete, .options] {
      #expect(try bench.send(HTTPRequest(method, bench.url()))?.get().status == 200)
    }
    #expect(try bench.send(HTTPRequest(bench.url()))?.get().status == 200)
    #expect(bench.got.map { $0.headers["Content-Length"] } == ["0", "0", "0", nil, nil, nil])
    #expect(bench.got.map(\.method) == ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET"])
  }

  @Test func `HEAD delivers header fields without a body`() throws {
    let bench = try UploadBench()
    let response = try #require(try bench.send(HTTPRequest(.head, bench.url()))?.get())
    #expect(response.status == 200)
    #expect(response.body.isEmpty)
    #expect(response.headers["Content-Length"] == "2")
  }

  @Test func `a stream of unknown length is sent chunked, and requested one chunk at a time`() throws {
    let bench = try UploadBench()
    var asked: [Int] = []
    let source = (0..<5).publisher.handleEvents(receiveRequest: { asked.append($0.max ?? -1) })
      .map { Chunk("part \($0);") }
    var request = HTTPRequest(.post, bench.url(), body: .stream(source))
    request.expectsContinue = false
    #expect(try bench.send(request)?.get().status == 200)
    #expect(bench.got.first?.body == "part 0;part 1;part 2;part 3;part 4;")
    #expect(bench.got.first?.headers["Transfer-Encoding"] == "chunked")
    #expect(bench.got.first?.headers["Content-Length"] == nil)
    #expect(!asked.isEmpty && asked.allSatisfy { $0 == 1 })
  }

  @Test func `a source is read only while the server reads`() throws {
    // An origin that reads the head, and then nothing more.
    let origin = RawOrigin { connection in
      try connection.readRequest()
      connection.waitForRelease()
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    var (sent, kind) = (0, HTTPError.Kind?.none)
    withGrowingTimeout(from: .milliseconds(300)) { timeout in
      sent = 0
      let source = Generate(state: 0) { (count: inout Int) -> Chunk? in
        count += 1
        sent = count
        return Chunk(repeatElement(UInt8(7), count: 64 << 10))
      }
      var request = HTTPRequest(.post, origin.url(), body: .stream(source))
      (request.expectsContinue, request.timeout) = (false, timeout)
      kind = bench.run(request).error?.kind
      return kind == .timedOut(.response) && sent > 1
    }
    #expect(kind == .timedOut(.response))
    // The kernel's buffers at both ends hold some megabytes.
    #expect(sent > 1 && sent < 400, "\(sent) chunks of 64 KiB")
  }

  @Test func `a file is sent with its length`() throws {
    let path = folder.file("upload")
    try Data(repeating: 65, count: 300_000).write(to: URL(filePath: path))
    let bench = try UploadBench()
    #expect(try bench.send(HTTPRequest(.put, bench.url(), body: .file(path)))?.get().status == 200)
    #expect(bench.got.first?.body == String(repeating: "A", count: 300_000))
    #expect(bench.got.first?.headers["Content-Length"] == "300000")
  }

  @Test func `a long file arrives completely, whether it is cached in memory or not`() throws {
    let path = folder.file("upload")
    var text = ""
    for number in 0..<300_000 { text += "\(number) " }
    try Data(text.utf8).write(to: URL(filePath: path))
    var limits = HTTPServerLimits()
    limits.bodyBytes = 1 << 23
    let bench = try UploadBench(limits: limits)
    for isInMemory in [true, false] {
      if !isInMemory {
        // Make the kernel drop the cached parts of the file that are already on the disk.
        let descriptor = open(path, O_RDONLY)
        _ = fsync(descriptor)
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        close(descriptor)
      }
      #expect(try bench.send(HTTPRequest(.put, bench.url(), body: .file(path)))?.get().status == 200)
      #expect(bench.got.last?.body == text)
    }
    #expect(bench.got.count == 2)
  }

  @Test func `a file truncated while it is sent fails the request`() throws {
    let path = folder.file("upload")
    try Data(repeating: 65, count: 32 << 20).write(to: URL(filePath: path))
    // An origin that reads only after the file has been truncated.
    let origin = RawOrigin { connection in
      try connection.readRequest()
      _ = truncate(path, 300_000)
      try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
      connection.waitForRelease()
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probe = bench.run(HTTPRequest(.put, origin.url(), body: .file(path)))
    #expect(probe.error?.kind == .body)
    #expect(probe.error?.description.contains("it ended after 300000 of 33554432 bytes") == true, "\(probe)")
  }

  @Test func `a missing file fails the request`() throws {
    let bench = try UploadBench()
    let result = bench.send(HTTPRequest(.put, bench.url(), body: .file("/nowhere/at/all")))
    guard case .failure(let error) = result else { return #expect(Bool(false), "\(String(describing: result))") }
    #expect(error.kind == .body)
    #expect(error.description.contains("/nowhere/at/all"))
    #expect(bench.got.isEmpty)
  }

  @Test(arguments: [("a'b_1", "a'b_1"), ("a:b", "\"a:b\""), ("a/b=c", "\"a/b=c\""), ("(a b)", "\"(a b)\"")])
  func `a form's boundary is quoted in its content type if it isn't a token`(boundary: String, value: String) {
    let type = HTTPBody.multipart([.text("a", "b")], boundary: boundary).contentType
    #expect(type == "multipart/form-data; boundary=\(value)")
  }

  @Test func `forms, JSON and multipart files are encoded as in their standards`() throws {
    #expect(HTTPBody.form(["a b": "1&2", "ü": "=*-._~"]).wholeBytes?.text == "a+b=1%262&%C3%BC=%3D*-._%7E")
    #expect(try HTTPBody.json(["a": 1]).wholeBytes?.text == #"{"a":1}"#)
    #expect(try HTTPBody.json(["a": 1]).contentType == "application/json")
    let form = HTTPBody.multipart(
      [.text("title", "Sea"), MultipartField("file", fileName: "a\"b.png", .bytes(Chunk("PNG"), type: "image/png"))],
      boundary: "cut")
    #expect(form.contentType == "multipart/form-data; boundary=cut")
    #expect(
      form.wholeBytes?.text == """
        --cut\r\nContent-Disposition: form-data; name="title"\r\n\r\nSea\r\n--cut\r\nContent-Disposition: form-data; \
        name="file"; filename="a%22b.png"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--cut--\r\n
        """)
  }

  @Test(arguments: [("/data/photos/\u{301}x", "\u{301}x"), ("x", "x")])
  func `a file in a multipart form is named after the last part of its path`(_ path: String, _ name: String) {
    #expect(MultipartField.file("f", path).fileName == name)
  }

  @Test func `a multipart form with a stream arrives completely`() throws {
    let bench = try UploadBench()
    let source = ["one", "two"].publisher.map { Chunk($0) }
    let body = HTTPBody.multipart([MultipartField("s", .stream(source, length: 6, type: nil))], boundary: "x")
    #expect(try bench.send(HTTPRequest(.post, bench.url(), body: body))?.get().status == 200)
    #expect(
      bench.got.first?.body == "--x\r\nContent-Disposition: form-data; name=\"s\"\r\n\r\nonetwo\r\n--x--\r\n")
    #expect(bench.got.first?.headers["Content-Length"] == "\(bench.got.first?.body.utf8.count ?? 0)")
  }

  @Test(arguments: [3, 9]) func `a stream of the wrong length fails the request`(length: Int) throws {
    let bench = try UploadBench()
    let body = HTTPBody.stream(["one", "two"].publisher.map { Chunk($0) }, length: length)
    guard case .failure(let error) = bench.send(HTTPRequest(.post, bench.url(), body: body)) else {
      return #expect(Bool(false), "it was sent")
    }
    #expect(error.kind == .body)
    // The announced bytes may have arrived before the surplus.
    if length > 6 { #expect(bench.got.isEmpty) }
  }

  @Test func `a failing source fails the request with its reason`() throws {
    struct Broken: Error {}
    let bench = try UploadBench()
    let body = HTTPBody.stream(Just(Chunk("a")).setFailureType(to: Broken.self).append(Fail(error: Broken())))
    guard case .failure(let error) = bench.send(HTTPRequest(.post, bench.url(), body: body)) else {
      return #expect(Bool(false), "it was sent")
    }
    #expect(error.kind == .body)
    #expect(error.cause.contains("Broken"))
  }

  @Test func `a long body waits for 100 Continue, and isn't read when it is refused`() throws {
    var limits = HTTPServerLimits()
    limits.bodyBytes = 1 << 20
    let bench = try UploadBench(limits: limits)
    var sent = 0
    let source = Generate(state: 0) { (count: inout Int) -> Chunk? in
      count += 1
      sent = count
      return Chunk(repeatElement(UInt8(7), count: 64 << 10))
    }
    let body = HTTPBody.stream(source.prefix(64), length: 4 << 20)
    #expect(try bench.send(HTTPRequest(.post, bench.url(), body: body))?.get().status == 413)
    #expect(sent == 0)
  }

  @Test func `Content-Length, Transfer-Encoding, CONNECT and invalid methods are refused`() {
    let bench = HTTPBench()
    let url = URL(string: "http://127.0.0.1:1/")!
    for name in ["Content-Length", "transfer-encoding"] {
      let request = HTTPRequest(.post, url, headers: [.init(name: name, value: "3")], body: .text("abc"))
      #expect(bench.run(request).error?.kind == .invalidRequest)
    }
    for method in ["CONNECT", "GET /", "", "A\r\nB"] {
      #expect(bench.run(HTTPRequest(HTTPMethod(rawValue: method), url)).error?.kind == .invalidRequest)
    }
    #expect(bench.run(HTTPRequest(.head, url, body: .text("a"))).error?.kind == .invalidRequest)
  }

  @Test func `a POST on a kept connection that is closed is sent only once`() throws {
    let seen = Mutex<[String]>([])
    // An origin that responds to one request per connection, and closes without responding to the second.
    let origin = RawOrigin { connection in
      try connection.send(RawOrigin.answer("200 OK", [], Data("\(try connection.readRequest().path)".utf8)))
      let second = try connection.readRequest()
      seen.withLock { $0.append(String(second.text.prefix { $0 != " " })) }
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    #expect(bench.run(origin.url("/1")).response?.status == 200)
    #expect(bench.run(HTTPRequest(.post, origin.url("/2"), body: .text("order"))).error?.kind == .send)
    #expect(seen.withLock { $0 } == ["POST"])
    #expect(bench.run(origin.url("/3")).response?.status == 200)
    // GET is sent again on a new connection.
    #expect(bench.run(origin.url("/4")).response?.status == 200)
    #expect(bench.run(HTTPRequest(.put, origin.url("/5"), body: .text("whole"))).response?.status == 200)
  }

  @Test func `decode(type:decoder:) decodes a successful response, and fails for other statuses`() throws {
    struct Todo: Codable, Equatable { var title: String }
    let bench = try UploadBench { request, _ in
      request.path == "/todo" ? .json(Chunk(#"{"title":"Milk"}"#)) : ServerResponse(.notFound)
    }
    var todos: [Todo] = []
    var failure: (any Error)?
    for path in ["/todo", "/none"] {
      let getting = bench.client.get(bench.url(path)).decode(type: Todo.self, decoder: JSONDecoder()).sink {
        if case .failure(let error) = $0 { failure = error }
        bench.loop.stop()
      } receiveValue: {
        todos.append($0)
      }
      bench.loop.run()
      withExtendedLifetime(getting) {}
    }
    #expect(todos == [Todo(title: "Milk")])
    #expect((failure as? HTTPStatusError)?.response.status == 404)
  }
}

extension RawOrigin.Connection {
  /// Reads nothing until the origin is stopped.
  fileprivate func waitForRelease() {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    _ = Foundation.poll(&poll, 1, 10_000)
  }
}
