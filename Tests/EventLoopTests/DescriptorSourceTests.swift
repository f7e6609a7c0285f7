import FeedStream
import Foundation
import TestSupport
import Testing

/// The source of the article "Writing a publisher", word for word.
func chunks(of descriptor: Int32, on loop: EventLoop) -> Create<[UInt8], EventLoopError> {
  Create { emitter throws(EventLoopError) in
    let watch = try PollHandle(on: loop, fileDescriptor: descriptor)
    emitter.onCancel { watch.close() }
    emitter.onRequest { _ throws(EventLoopError) in
      try watch.start(.readable) { _, error in
        if let error { return emitter.send(completion: .failure(error)) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 { emitter.send(Array(bytes[..<count])) }
        if count == 0 { emitter.send(completion: .finished) }
        if emitter.demand == .none { watch.stop() }
      }
    }
  }
}

@Suite(.settled) struct DescriptorSourceTests {
  @Test func `the article shows this file's DescriptorSource`() throws {
    let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let article = root.appending(path: "Sources/FeedStream/FeedStream.docc/WritingAPublisher.md")
    let here = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let source = try #require(here.firstMatch(of: /func chunks\([\s\S]*?\n}\n/)).output
    #expect(try String(contentsOf: article, encoding: .utf8).contains(source))
  }

  @Test func `a DescriptorSource reads only what is requested, and the writer blocks`() throws {
    try withLoop { loop in
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      // Until the pipe is full.
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      let page = [UInt8](repeating: 7, count: 4096)
      func fill() -> Int {
        var written = 0
        while case let count = write(ends[1], page, page.count), count > 0 { written += count }
        return written
      }
      let first = fill()
      #expect(first > 4096)
      var asked: (any Subscription)?
      let log = Log<Int>()
      var ending: Subscribers.Completion<EventLoopError>?
      chunks(of: ends[0], on: loop).subscribe(
        AnySubscriber(
          receiveSubscription: { asked = $0 },
          receiveValue: {
            log.note($0.count)
            return .none
          }, receiveCompletion: { ending = $0 }))
      for _ in 0..<5 { loop.run(.oneTurn) }
      #expect(log.entries.isEmpty)
      #expect(fill() == 0)
      asked?.request(.max(2))
      for _ in 0..<5 { loop.run(.oneTurn) }
      #expect(log.entries == [4096, 4096])
      #expect(fill() == 8192)
      close(ends[1])
      asked?.request(.unlimited)
      loop.run()
      #expect(log.entries.reduce(0, +) == first + 8192)
      #expect(ending == .finished)
      close(ends[0])
    }
  }

  @Test func `an invalid file descriptor fails the stream`() {
    withLoop { loop in
      var ending: Subscribers.Completion<EventLoopError>?
      let subscription = chunks(of: -1, on: loop).sink(receiveCompletion: { ending = $0 }, receiveValue: { _ in })
      #expect(ending.map { if case .failure = $0 { true } else { false } } == true)
      subscription.cancel()
    }
  }
}
