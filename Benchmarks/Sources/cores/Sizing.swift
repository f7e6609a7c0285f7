import FeedStream
import Foundation
import Harness
import ImageFeed

/// Sizes images, as `feed serve` does, with one decoding process and with one for each processor. The loop only passes the
/// bytes on.
func sizing(_ isShort: Bool, rounds: Int) throws {
  // Scripts/bench runs this in the folder Benchmarks.
  let image = Chunk(try Data(contentsOf: URL(filePath: "../docs/images/gallery-light.png")))
  let count = isShort ? 50 : 300
  let times = try interleaved(
    rounds: rounds,
    [1, cores].map { children in
      {
        let loop = EventLoop()
        var options = ImageDecoder.Options()
        options.children = children
        let decoder = ImageDecoder(options: options, on: loop)
        guard decoder.isAvailable else { fatalError("image-decoder isn't built: run Scripts/bench cores") }
        // The processes start with the first images, which aren't measured.
        let unmeasured = 2 * children
        var (sized, start, time) = (0, 0.0, 0.0)
        let subscription = (0..<unmeasured + count).publisher
          .flatMap(maxPublishers: .max(2 * children)) { _ in
            decoder.decode(image, fitting: DecodedImage.Size(width: 640, height: 480), as: .web)
          }
          .sink {
            if case .failure(let error) = $0 { fatalError("\(error)") }
            time = Clock.wall.now - start
            // Otherwise, the loop would wait until the processes have been idle for ten seconds.
            decoder.close()
          } receiveValue: { _ in
            sized += 1
            if sized == unmeasured { start = Clock.wall.now }
          }
        loop.run()
        subscription.cancel()
        guard sized == unmeasured + count else { fatalError("only \(sized - unmeasured) images were sized") }
        return time
      }
    })
  let speeds = times.map { number(Double(count) / ($0.median / 1e9)) }
  show("\n| work | one process | \(cores) processes | ratio |\n|---|---|---|---|")
  show("| images sized, per second | \(speeds[0]) | \(speeds[1]) | \(number(ratio(times[0], to: times[1])))× |")
}
