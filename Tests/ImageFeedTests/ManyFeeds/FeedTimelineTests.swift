import Foundation
import ImageFeed
import TestSupport
import Testing

@Suite(.settled) struct FeedTimelineTests {
  /// A feed whose images were published that many seconds after noon; `nil` for those without a date.
  private func member(_ name: String, _ dates: [Int?]) -> FeedTimeline.Member {
    let images = dates.enumerated().map { index, date in
      FeedImage(
        id: UUID(), description: "\(name)\(index)", url: URL(string: "http://\(name)/\(index)")!,
        published: date.map { noon + Double($0) })
    }
    return .init(address: URL(string: "http://\(name).example/")!, feed: Feed(images: images, source: .remote))
  }

  private func order(_ members: FeedTimeline.Member...) -> [String] {
    FeedTimeline(members).map { $0.image.description! }
  }

  @Test func `the timeline starts with the newest image`() {
    #expect(order(member("a", [30, 10]), member("b", [20, 40])) == ["b1", "a0", "b0", "a1"])
  }

  @Test func `an image without a date follows the one before it`() {
    #expect(order(member("a", [30, nil, 10]), member("b", [20])) == ["a0", "a1", "b0", "a2"])
  }

  @Test func `an image before its feed's first date gets that date`() {
    #expect(order(member("a", [nil, 30]), member("b", [40, 20])) == ["b0", "a0", "a1", "b1"])
  }

  @Test func `feeds without dates come last, in the given order`() {
    #expect(order(member("a", [nil, nil]), member("b", [20]), member("c", [nil])) == ["b0", "a0", "a1", "c0"])
  }

  @Test func `equal dates keep the feeds' order`() {
    #expect(order(member("a", [10, 10]), member("b", [10])) == ["a0", "a1", "b0"])
  }

  @Test func `each entry names its feed`() {
    let url = URL(string: "http://a.example/")!
    let feed = Feed(images: [makeImage(1)], source: .remote)
    #expect(FeedTimeline([.init(address: url, feed: feed)]).map(\.name) == ["a.example"])
    #expect(FeedTimeline([.init(address: url, name: "Mine", feed: feed)]).map(\.name) == ["Mine"])
  }

  @Test func `a timeline of some of a feed's images is sorted too`() {
    let timeline = FeedTimeline(member("a", [10, 30, 20]), at: [0, 2])
    #expect(timeline.map { $0.image.description! } == ["a2", "a0"])
  }
}
