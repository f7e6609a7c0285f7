import Foundation
import TestSupport
import Testing

/// The documents in the README's image, in the forms that a blog, a video channel and a journal use.
@Suite(.settled) struct SampleDocumentTests {
  @Test(arguments: [
    (
      "blog.xml", "Hours outside",
      """
      1 item has no image and isn't shown

      1. First snow on the ridge
         DATE
         Hohneck, Vosges
         https://hours.example/2026/11/first-snow/
         https://hours.example/files/ridge.jpg?w=1600&q=80
      2. Herons & a train
         DATE
         https://hours.example/2026/11/herons/
         https://hours.example/files/herons.jpg

      """
    ),
    (
      "channel.xml", "Slow Trains",
      """

      1. Bergen to Oslo in winter, the whole seven hours
         DATE
         https://videos.example/watch?v=aaaaaaaaaa1
         https://i.videos.example/vi/aaaaaaaaaa1/hqdefault.jpg
      2. Night shift
         DATE
         https://videos.example/watch?v=aaaaaaaaaa2
         https://i.videos.example/vi/aaaaaaaaaa2/hqdefault.jpg

      """
    ),
    (
      "journal.json", "Tiny kitchen",
      """

      1. Eleven quinces
         DATE
         https://kitchen.example/2026/11/19/quinces.html
         https://kitchen.example/uploads/2026/quinces.jpg
      2. Rye, day two.
         DATE
         https://kitchen.example/2026/11/15/150233.html
         https://kitchen.example/uploads/2026/rye.jpg

      """
    ),
  ])
  func `load shows a sample blog, video channel and journal`(name: String, title: String, shown: String) async throws {
    let file = URL(filePath: #filePath).appending(path: "../../../Examples/Samples/\(name)").standardized
    try await withOrigin(serving: Data(contentsOf: file)) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0 && run.errors == "")
      // The time of day depends on the machine's time zone.
      let output = run.output.replacing(/(?m)^   \d{4}-\d\d-\d\d \d\d:\d\d( \S+)?$/, with: "   DATE")
      #expect(output == "2 images from \(title) (\(url))\n\(shown)")
    }
  }
}
