import FeedHTTPServer
import FeedStream
import FeedStreamTesting

/// Checks that an HTTP server responds to any bytes without harm, and with the same bytes however they are split.
func fuzzRequests(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  guard let first = input.first else { return 0 }
  // The first byte determines where the rest is split.
  let bytes = Chunk(input.dropFirst())
  // A client that sends its body with the head needs no permission to send it.
  let leave = "HTTP/1.1 100 Continue\r\n\r\n"
  let whole = answers(to: [bytes]).replacing(leave, with: "")
  let cuts = bytes.chunks(of: Int(first) % 16 + 1)
  let cut = answers(to: cuts).replacing(leave, with: "")
  guard whole == cut else {
    finding("in one piece: \(whole.debugDescription), in pieces of \(Int(first) % 16 + 1): \(cut.debugDescription)")
  }
  expectAnswers(whole)
  return 0
}

/// The bytes that a client receives after it has sent these chunks and nothing more.
private func answers(to chunks: [Chunk]) -> String {
  let time = VirtualTimeScheduler()
  let place = SocketAddress.internet("10.0.0.1", port: 80)
  guard let server = try? HTTPServer(at: place, on: time, wallClock: { 784_111_777 }) else {
    finding("nobody can listen")
  }
  let serving = server.serve { request in
    request.body.whole()
      .map { .text("\(request.method) \(request.target) \(request.headers.count) \($0.count)\n") }
      .catch { _ in Just(.init(.badRequest)) }
  }
  var text: [UInt8] = []
  let asking = Connection.connect(to: place, on: time).mapError { $0 as any Error }
    .flatMap { connection in
      chunks.publisher.write(to: connection, atEnd: .endsWriting)
        .map { (_: Never) -> Chunk in }.mapError { $0 as any Error }
        .catch { _ in Empty<Chunk, any Error>() }
        .merge(with: connection.bytes.mapError { $0 as any Error })
    }
    .sink { _ in
    } receiveValue: {
      text += $0
    }
  // Longer than any of the server's deadlines.
  time.advance(by: .seconds(300))
  guard server.connectionCount == 0 else { finding("a connection stays open") }
  for subscription in [serving, asking] { subscription.cancel() }
  server.close()
  time.run()
  return String(decoding: text, as: UTF8.self)
}

/// Checks that the text consists of responses, each with a head and the number of bytes that its head announces.
private func expectAnswers(_ text: String) {
  var rest = text.utf8[...]
  while !rest.isEmpty {
    guard rest.starts(with: "HTTP/1.1 ".utf8), let end = rest.firstRange(of: "\r\n\r\n".utf8) else {
      finding("no answer: \(Substring(rest).debugDescription)")
    }
    let head = Substring(rest[..<end.lowerBound])
    guard let status = Int(head.dropFirst(9).prefix(3)), (200...599).contains(status) else {
      finding("no status: \(head.debugDescription)")
    }
    rest = rest[end.upperBound...]
    // A response to HEAD has no body, and the methods of the requests aren't known here: then the next response
    // follows, or nothing.
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }.flatMap {
      Int($0.dropFirst(16))
    }
    if rest.isEmpty || rest.starts(with: "HTTP/1.1 ".utf8) { continue }
    guard let length, length <= rest.count else { finding("an answer is cut: \(head.debugDescription)") }
    rest = rest.dropFirst(length)
  }
}

extension Chunk {
  fileprivate func chunks(of size: Int) -> [Chunk] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
