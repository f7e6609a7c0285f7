import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Polling while the wall clock is set.
@Suite(.settled) struct SetClockTests {
  private static let year = 365.0 * 86_400

  @Test(arguments: [year, -year])
  func `setting the wall clock doesn't change the pace of loads, and every feed is saved`(jump: Double) {
    withVirtualTime { time in
      let clock = WallClock()
      let disk = VirtualDisk(on: time)
      let network = VirtualNetwork(on: time)
      network.serve("example.com") { request, _ in .feed(makeFeed(2, from: request.number).images, after: 0) }
      let cache = FeedCache(store: disk, on: time, now: { clock.now })
      let loader = FeedLoader(address, client: network, cache: cache, on: time)
      var (shown, ends) = (0, 0)
      let updates = loader.updates(every: .seconds(60)).sink { result in
        if case .success(let feed) = result, feed.source == .remote { shown += 1 }
        ends += 1
      }
      for number in 1...10 {
        // Set the clock forward and back, several times.
        if number % 3 == 0 { clock.now += jump * (number % 2 == 0 ? 1 : -1) }
        time.advance(by: .seconds(60))
        #expect(network.requests == number + 1)
        #expect(disk.committed(for: address)?.images == makeFeed(2, from: number).images)
        #expect(disk.committed(for: address)?.timestamp == clock.now)
      }
      updates.cancel()
      #expect(shown == 11 && ends == 11)
    }
  }

  @Test(arguments: [(-year, true), (-301, true), (-299, false), (year, true)])
  func `a saved feed's age follows the current clock, and one from the future is hidden`(
    jump: Double, isHidden: Bool
  ) {
    withVirtualTime { time in
      let clock = WallClock()
      let disk = VirtualDisk(on: time)
      let network = VirtualNetwork(on: time)
      network.serve("example.com") { _, _ in .drop() }
      let cache = FeedCache(store: disk, on: time, now: { clock.now })
      try! disk.replace(for: address, with: makeFeed(at: clock.now))
      clock.now += jump
      var shown = 0
      let loader = FeedLoader(address, client: network, cache: cache, on: time)
      let load = loader.load().sink(receiveCompletion: { _ in }, receiveValue: { _ in shown += 1 })
      time.run()
      load.cancel()
      #expect(shown == (isHidden ? 0 : 1))
      #expect(disk.committed(for: address) != nil)
    }
  }
}
