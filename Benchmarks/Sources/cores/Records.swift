import FeedFormats
import FeedStream
import Foundation
import Harness
import ImageFeed

/// Adds up a field of ten million records of text, and parses feeds, on one loop and on the loops of a group.
func records(on group: EventLoopGroup, _ isShort: Bool, rounds: Int) throws {
  let each = 2_000
  let block = Chunk((0..<each).map { "\($0),a name of some length,\($0 % 997),2026-11-23\n" }.joined())
  let blocks = (isShort ? 1_000_000 : 10_000_000) / each
  try compare("records of 38 bytes", each * blocks, rounds) { loop in
    let subscription =
      repeatElement(block, count: blocks).publisher.map(sum).sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  } several: { loop in
    let subscription =
      repeatElement(block, count: blocks).publisher.parallelMap(on: group, sum).sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  }
  let items = (0..<50).map { number in
    "<item><title>Item \(number)</title><link>https://example.com/\(number)</link><guid>\(number)</guid><description>"
      + "&lt;p&gt;Some words, and an image: &lt;img src=\"https://example.com/\(number).jpg\"&gt;&lt;/p&gt;</description></item>"
  }
  let text =
    "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>A feed</title>\(items.joined())</channel></rss>"
  let document = WebDocument(body: Data(text.utf8), url: URL(string: "https://example.com/feed")!)
  let read: @Sendable (Int) -> Int = { _ in
    (try? [any FeedFormat].web.images(of: document, within: FeedLimits()))?.count ?? 0
  }
  let feeds = isShort ? 500 : 5_000
  try compare("feeds of 50 items (\(text.utf8.count / 1024) KiB)", feeds, rounds) { loop in
    let subscription = (0..<feeds).publisher.map(read).sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  } several: { loop in
    let subscription = (0..<feeds).publisher.parallelMap(on: group, read).sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  }
}

private func compare(
  _ name: String, _ count: Int, _ rounds: Int, one: @escaping (EventLoop) -> Void,
  several: @escaping (EventLoop) -> Void
) throws {
  let times = try interleaved(
    rounds: rounds,
    [one, several].map { work in
      {
        let loop = EventLoop()
        return Clock.wall.time { work(loop) }.nanoseconds
      }
    })
  let speeds = times.map { number(Double(count) / ($0.median / 1e9)) }
  show("| \(name), per second | \(speeds[0]) | \(speeds[1]) | \(number(ratio(times[0], to: times[1])))× |")
}

/// The sum of the third fields.
@Sendable private func sum(_ block: Chunk) -> Int {
  block.withUnsafeBytes { bytes in
    var (sum, value, field) = (0, 0, 0)
    for byte in bytes {
      switch byte {
      case UInt8(ascii: ","):
        if field == 2 { sum &+= value }
        field += 1
        value = 0
      case UInt8(ascii: "\n"):
        field = 0
        value = 0
      default: value = value &* 10 &+ Int(byte &- 48)
      }
    }
    return sum
  }
}
