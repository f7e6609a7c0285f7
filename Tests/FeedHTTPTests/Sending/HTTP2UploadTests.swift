import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(
  .settled, .timeLimit(.minutes(5)),
  .enabled(if: HTTP2Origin.isAvailable, "nghttpd is the server; Scripts/test installs it"))
struct HTTP2UploadTests {
  private let origin: HTTP2Origin
  private let bench: HTTPBench

  init() throws {
    let origin = try HTTP2Origin()
    self.origin = origin
    bench = HTTPBench { $0.certificateAuthorities = origin.certificate }
  }

  private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  @Test(arguments: [0, 1, 65_535, 65_536, 3_000_000]) func `HTTP/2 uploads bytes of a known length`(count: Int) throws {
    defer { origin.stop() }
    let probe = bench.run(HTTPRequest(.post, origin.url(), body: .bytes(Chunk(bytes(count)))))
    #expect(probe.error == nil)
    #expect(probe.response?.status == 200 && probe.response?.headers["Server"]?.hasPrefix("nghttpd") == true)
    #expect(probe.response?.body == Data(bytes(count)))
  }

  @Test(arguments: [nil, 40 * 50_000]) func `HTTP/2 uploads a stream, and requests one chunk at a time`(length: Int?)
    throws
  {
    defer { origin.stop() }
    var asked: [Int] = []
    let chunk = bytes(50_000)
    let source = (0..<40).publisher.handleEvents(receiveRequest: { asked.append($0.max ?? -1) }).map { _ in Chunk(chunk)
    }
    let probe = bench.run(HTTPRequest(.put, origin.url(), body: .stream(source, length: length)))
    #expect(probe.error == nil)
    #expect(probe.response?.body == Data((0..<40).flatMap { _ in chunk }))
    #expect(!asked.isEmpty && asked.allSatisfy { $0 == 1 })
  }

  @Test func `HTTP/2 uploads a file`() throws {
    defer { origin.stop() }
    let path = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)").path
    try Data(bytes(1_000_000)).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let probe = bench.run(HTTPRequest(.put, origin.url(), body: .file(path)))
    #expect(probe.error == nil && probe.response?.body == Data(bytes(1_000_000)))
  }

  @Test func `several HTTP/2 uploads at the same time don't mix their bodies`() throws {
    defer { origin.stop() }
    let probes = (1...6).map { number in
      bench.get(
        HTTPRequest(.post, origin.url("/\(number)"), body: .bytes(Chunk(repeatElement(UInt8(number), count: 400_000)))))
    }
    bench.loop.run()
    for (index, probe) in probes.enumerated() {
      #expect(probe.error == nil && probe.response?.body == Data(repeating: UInt8(index + 1), count: 400_000))
    }
  }

  @Test func `a request doesn't share the HTTP/2 connection of a body without demand`() throws {
    defer { origin.stop() }
    let port = origin.url().port!
    let relay = RawOrigin { connection in
      let server = try RawOrigin.Connection.open(to: port)
      defer { close(server.descriptor) }
      try connection.exchange(with: server)
    }
    defer { relay.stop() }
    let url = URL(string: "https://localhost:\(relay.port)/")!
    let stuck = StreamProbe()
    stuck.demand = .max(1)
    var other: HTTPProbe?
    stuck.onChunk = { [bench] in
      stuck.demand = .none
      other = bench.get(HTTPRequest(.post, url, body: .text("b")))
      other?.onEnd = { stuck.cancel() }
    }
    stuck.begin(bench.client.open(HTTPRequest(.put, url, body: .bytes(Chunk(bytes(1_000_000))))))
    bench.loop.run()
    #expect(other?.response?.body == Data("b".utf8) && stuck.completion == nil)
    #expect(relay.accepted == 2)
  }

  @Test func `a failing source fails its request, and the connection is reused`() throws {
    struct Broken: Error {}
    defer { origin.stop() }
    let source = Just(Chunk("a")).setFailureType(to: Broken.self).append(Fail(error: Broken()))
    #expect(bench.run(HTTPRequest(.post, origin.url(), body: .stream(source))).error?.kind == .body)
    #expect(bench.run(HTTPRequest(.post, origin.url(), body: .text("b"))).response?.body == Data("b".utf8))
  }

  @Test func `an upload fails when its server stops`() throws {
    let source = Generate(state: 0) { [origin] (count: inout Int) -> Chunk? in
      count += 1
      if count == 20 { origin.stop() }
      return Chunk(repeatElement(7, count: 64 << 10))
    }
    let error = bench.run(HTTPRequest(.post, origin.url(), body: .stream(source))).error
    #expect([.send, .receive, .truncated].contains(error?.kind), "\(String(describing: error))")
    origin.stop()
  }
}
