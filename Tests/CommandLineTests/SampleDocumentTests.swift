import Foundation
import TestSupport
import Testing

/// The documents of the README's picture, shaped as a blog's, a video channel's and a journal's are.
@Suite(.settled) struct SampleDocumentTests {
  @Test(arguments: [
    (
      "blog.xml",
      """
      1 item has no picture and is not shown

      1. First snow on the ridge
         2026-11-21 08:10
         Hohneck, Vosges
         https://hours.example/2026/11/first-snow/
         https://hours.example/files/ridge.jpg?w=1600&q=80
      2. Herons & a train
         2026-11-18 17:45
         https://hours.example/2026/11/herons/
         https://hours.example/files/herons.jpg

      """
    ),
    (
      "channel.xml",
      """

      1. Bergen to Oslo in winter, the whole seven hours
         2026-11-20 16:00
         https://videos.example/watch?v=aaaaaaaaaa1
         https://i.videos.example/vi/aaaaaaaaaa1/hqdefault.jpg
      2. Night shift
         2026-11-13 16:00
         https://videos.example/watch?v=aaaaaaaaaa2
         https://i.videos.example/vi/aaaaaaaaaa2/hqdefault.jpg

      """
    ),
    (
      "journal.json",
      """

      1. Eleven quinces
         2026-11-19 08:30
         https://kitchen.example/2026/11/19/quinces.html
         https://kitchen.example/uploads/2026/quinces.jpg
      2. Rye, day two.
         2026-11-15 14:02
         https://kitchen.example/2026/11/15/150233.html
         https://kitchen.example/uploads/2026/rye.jpg

      """
    ),
  ])
  func `a blog, a video channel and a journal are shown`(name: String, shown: String) async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../Examples/Samples/\(name)").standardized
    try await withOrigin(serving: Data(contentsOf: file)) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache], environment: ["TZ": "UTC"])
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output == "2 images from \(url)\n\(shown)")
    }
  }
}
