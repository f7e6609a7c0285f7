import FeedStream
import Foundation
import Harness
import ImageFeed

/// Polls one feed of many images, and measures how long each kind of poll keeps the loop from its timers.
struct LargeFeed {
  enum Step: String, CaseIterable {
    case first = "loaded, saved and shown"
    case unchanged = "polled, nothing new"
    case changed = "polled, everything new"
    case gone = "the server fails, shown from the cache"
    case back = "polled, the server is back"
  }

  let images: Int
  /// The folder of the origin's files, and the origin's URL.
  let folder: URL
  let origin: URL

  /// The loop's longest delays in each step, in milliseconds, a pair for each round.
  func run(rounds: Int, every seconds: Double) throws -> [Step: [(wall: Double, processor: Double)]] {
    var found: [Step: [(wall: Double, processor: Double)]] = [:]
    let bodies = (0...1).map { payload(version: $0) }
    for _ in 0..<rounds {
      for (step, longest) in try walk(bodies, every: seconds) { found[step, default: []].append(longest) }
    }
    return found
  }

  private func walk(_ bodies: [Data], every seconds: Double) throws -> [Step: (wall: Double, processor: Double)] {
    let paths = ["large.json", "large.old", "large.new", "large.sqlite"].map { folder.appending(path: $0).path }
    let (served, old, new, database) = (paths[0], paths[1], paths[2], paths[3])
    defer {
      for path in paths + [database + "-wal", database + "-shm"] { try? FileManager.default.removeItem(atPath: path) }
    }
    try bodies[0].write(to: URL(filePath: served))
    try bodies[1].write(to: URL(filePath: new))
    let loop = EventLoop()
    let client = CurlHTTPClient(on: loop)
    let cache = FeedCache(store: SQLiteFeedStore(path: database), on: loop)
    var found: [Step: (wall: Double, processor: Double)] = [:]
    var steps = Step.allCases[...]
    var shown: Feed?
    var isNew = false
    let pulse = Pulse(on: loop)

    // Each poll ends a step and begins the next, for which the origin's file is changed first, by renaming files: that
    // takes no time, unlike deleting one.
    let watched = WatchedLoop(loop) { _ in
      let step = steps.removeFirst()
      found[step] = pulse.take()
      check(step, shown, isNew: isNew)
      isNew = false
      switch steps.first {
      case .changed:
        rename(served, old)
        rename(new, served)
      case .gone: rename(served, new)
      case .back: rename(new, served)
      case .first, .unchanged: break
      case nil: loop.stop()
      }
    }
    let loader = FeedLoader(
      origin.deletingLastPathComponent().appending(path: "large.json"), client: client, cache: cache, on: watched)
    let subscription = loader.updates(every: .seconds(seconds)).sink { result in
      // Do what a screen does: keep the feed, and read the images that fit.
      guard case .success(let feed) = result else { fatalError("The feed cannot be had: \(result)") }
      shown = feed
      isNew = true
      precondition(feed.images.prefix(50).allSatisfy { $0.description != nil && $0.url.host() != nil })
    }
    loop.run()
    subscription.cancel()
    pulse.stop()
    client.close()
    loop.run()
    return found
  }

  private func check(_ step: Step, _ feed: Feed?, isNew: Bool) {
    precondition(feed?.images.count == images, "\(step.rawValue): no feed of \(images) images is shown")
    precondition(feed?.source.isRemote == (step != .gone), "\(step.rawValue): the feed is from the wrong side")
    precondition(isNew == (step != .unchanged), "\(step.rawValue): shown again, or not shown")
  }

  private func payload(version: Int) -> Data {
    var text = "{\"items\":["
    for index in 0..<images {
      if index > 0 { text += ",\n" }
      text += "{\"id\":\"\(UUID())\",\"description\":\"Description of image number \(index) in version \(version)\","
      text += "\"location\":\"Location \(index)\",\"image\":\"https://images.example.com/\(version)/\(index).jpg\"}"
    }
    return Data((text + "]}").utf8)
  }
}
