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
         Hohneck, Vosges
         https://hours.example/files/ridge.jpg?w=1600&q=80
      2. Herons & a train
         https://hours.example/files/herons.jpg

      """
    ),
    (
      "channel.xml",
      """

      1. Bergen to Oslo, seen from the driver's seat.
         https://i.videos.example/vi/aaaaaaaaaa1/hqdefault.jpg
      2. Twelve wagons of post, and the moon.
         https://i.videos.example/vi/aaaaaaaaaa2/hqdefault.jpg

      """
    ),
    (
      "journal.json",
      """

      1. Eleven quinces
         https://kitchen.example/uploads/2026/quinces.jpg
      2. Rye, day two.
         https://kitchen.example/uploads/2026/rye.jpg

      """
    ),
  ])
  func `a blog, a video channel and a journal are shown`(name: String, shown: String) async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../Examples/Samples/\(name)").standardized
    try await withOrigin(serving: Data(contentsOf: file)) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output == "2 images from \(url)\n\(shown)")
    }
  }
}
