import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct FileTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  /// Calls `body` with a file that has `content`.
  private func withFile(_ content: Data, _ body: (File) throws -> Void) throws {
    try content.write(to: URL(filePath: folder("file")))
    try body(File(folder("file")))
  }

  @Test func `a file is read to its end, in chunks of the given size`() throws {
    let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    try withFile(content) { file in
      var chunks: [Chunk] = []
      let all = file.bytes(chunkSize: 30_000, on: loop).sink { _ in
      } receiveValue: {
        chunks.append($0)
      }
      loop.run()
      #expect(chunks.map(\.count) == [30_000, 30_000, 30_000, 10_000])
      #expect(Chunk(joining: chunks) == Chunk(content))
      all.cancel()
    }
  }

  @Test func `a file is read from the given offset`() throws {
    try withFile(Data("hello, world".utf8)) { file in
      var text = ""
      let rest = file.bytes(from: 7, on: loop).utf8Text().sink { _ in
      } receiveValue: {
        text += $0
      }
      loop.run()
      #expect(text == "world")
      rest.cancel()
    }
  }

  @Test func `a file is read only as chunks are requested`() throws {
    try withFile(Data(repeating: 1, count: 100)) { file in
      var count = 0
      var subscription: (any Subscription)?
      file.bytes(chunkSize: 10, on: loop).subscribe(
        AnySubscriber(
          receiveSubscription: {
            subscription = $0
            $0.request(.max(3))
          },
          receiveValue: { _ in
            count += 1
            return .none
          }))
      loop.run()
      #expect(count == 3)
      subscription?.cancel()
    }
  }

  @Test func `reading a missing file fails with an error that names it`() {
    var error: SystemError?
    let path = folder("none/file")
    let none = File(path).bytes(on: loop)
      .sink {
        if case .failure(let failure) = $0 { error = failure }
      } receiveValue: { _ in
      }
    loop.run()
    #expect(error?.description == "cannot open \(path): no such file or directory (ENOENT)")
    none.cancel()
  }

  @Test func `bytes that a file read after cancellation are not delivered`() throws {
    try withFile(Data(repeating: 1, count: 100)) { file in
      var count = 0
      let all = file.bytes(chunkSize: 10, on: loop).sink { _ in
      } receiveValue: { _ in
        count += 1
      }
      all.cancel()
      loop.run()
      #expect(count == 0)
    }
  }
}
