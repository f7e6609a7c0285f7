import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

/// Images of a feed whose server is unreachable.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServeOfflineTests {
  private static let count = 1_000

  /// The images' lifetimes end immediately, as those of other images do after an hour.
  @Test func `while its server is unreachable, the last 1,000 images are shown on the page and in browse`() async throws
  {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start((0..<Self.count).map { "image \($0)" })
      for index in 0..<Self.count {
        await origin.serve(
          Chunk(MadeImage.png(width: 4 + index % 7, height: 4 + index % 5)), at: "/\(index)", lifetime: 0)
      }
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(["serve", "--port", "0", "--every", "1h", "--cache", cache, url], patience: 300)
      let number = try port(of: try #require(await run.output.line()))
      let store = DiskImageStore(folder: folder.appendingPathComponent("images").path)
      // Check rarely, because each check takes CPU time from the command.
      try await wait(while: try store.usage().count < Self.count)
      #expect(await Set(origin.asked).count == Self.count + 1)
      await origin.stop()
      var shown: Set<Substring> = []
      for first in stride(from: 0, to: Self.count, by: 60) {
        let page = try await get(number, "/?from=\(first)")
        let paths = Set(page.matches(of: /\/image\/[0-9a-f-]+/).map(\.output))
        for path in paths where try await get(number, "\(path)?w=400").hasPrefix("HTTP/1.1 200") { shown.insert(path) }
      }
      #expect(shown.count == Self.count)
      run.send(SIGTERM)
      #expect(await run.status() == 143)
      let terminal = try RunningFeed(["load", "--offline", "--images", "always", "--cache", cache, url])
      let text = await terminal.ending().output
      // The first 200 images are drawn; a missing image would be replaced by a frame.
      #expect(text.contains("200. image 199") && !text.contains("┌") && !text.contains("not saved"))
      origin.thread.shutdown()
    }
  }
}
