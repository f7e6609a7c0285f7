import FeedStream
import Foundation
import Harness
import ImageFeed

/// The cost of polling a number of feeds for one interval.
struct PollingFigures: Codable {
  var feeds: Int
  var polls: Int
  /// The lateness of the requests, and the time from a poll's due time to its response, in milliseconds.
  var late99, latest, answered99: Double
  var processorMicrosecondsPerPoll, processorShare: Double
  /// The memory that each feed adds to the heap and to the resident set, in KiB.
  var heapPerFeed, residentPerFeed: Double
}

/// Polls `count` feeds through the whole pipeline with its cache, on one loop, their beginnings spread over an interval,
/// and measures the intervals that follow.
func poll(_ count: Int, every interval: Double, intervals: Int, from origin: URL) throws -> PollingFigures {
  let folder = FileManager.default.temporaryDirectory.appending(path: "feedstream-scale-\(getpid())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let loop = EventLoop()
  let client = CurlHTTPClient(on: loop)
  let cache = FeedCache(store: SQLiteFeedStore(path: folder.appending(path: "feeds.sqlite").path), on: loop)
  let ledger = Ledger()
  var subscriptions: [AnyCancellable] = []
  func start(_ index: Int) {
    let watched = WatchedLoop(loop) { ledger.isDue(index, late: $0) }
    let loader = FeedLoader(
      origin.appending(queryItems: [URLQueryItem(name: "feed", value: "\(index)")]),
      client: Answering(client: client) { ledger.isAnswered(index) }, cache: cache, on: watched)
    subscriptions.append(
      loader.updates(every: .seconds(interval)).sink { result in
        guard case .success(let feed) = result, feed.source.isRemote, !feed.images.isEmpty else {
          fatalError("A poll failed: \(result)")
        }
      })
  }

  // Allocate the process's own memory before anything is counted.
  ledger.grow(to: count + 1)
  start(count)
  after(1, on: loop) { loop.stop() }
  loop.run()
  subscriptions = []
  let before = Memory.now
  var started = 0
  let beginning = loop.now
  let spreading = loop.schedule(
    after: beginning, interval: .milliseconds(1), tolerance: .nanoseconds(0), options: nil
  ) {
    let elapsed = Double(beginning.distance(to: loop.now).nanoseconds) / 1e9
    let due = min(count, 1 + Int(Double(count) * elapsed / interval))
    while started < due {
      start(started)
      started += 1
    }
  }
  var processor = 0.0
  after(interval * 1.05, on: loop) {
    spreading.cancel()
    precondition(started == count, "\(started) of \(count) feeds have begun")
    ledger.isCounting = true
    processor = Clock.processor.now
  }
  after(interval * (1.05 + Double(intervals)), on: loop) {
    processor = Clock.processor.now - processor
    ledger.isCounting = false
    loop.stop()
  }
  loop.run()
  let memory = Memory.now
  subscriptions = []
  loop.run()
  client.close()
  let polls = ledger.late.count
  precondition(
    abs(polls - count * intervals) <= max(1, count / 100), "\(polls) polls where \(count * intervals) were due")
  return PollingFigures(
    feeds: count, polls: polls, late99: ledger.late.quantile(0.99), latest: ledger.late.quantile(1),
    answered99: ledger.answered.quantile(0.99), processorMicrosecondsPerPoll: processor / 1e3 / Double(polls),
    processorShare: processor / 1e9 / (interval * Double(intervals)),
    heapPerFeed: (memory.heap - before.heap) / Double(count),
    residentPerFeed: (memory.resident - before.resident) / Double(count))
}

/// The times when polls were due and when their responses arrived.
private final class Ledger {
  var isCounting = false
  private(set) var late: [Double] = []
  private(set) var answered: [Double] = []
  private var due: [Double] = []

  /// Reserves room, so that the ledger doesn't grow while memory is measured.
  func grow(to count: Int) {
    due = Array(repeating: 0, count: count)
    late.reserveCapacity(4 * count)
    answered.reserveCapacity(4 * count)
  }

  func isDue(_ index: Int, late nanoseconds: Int64) {
    guard isCounting else { return }
    due[index] = Clock.wall.now - Double(nanoseconds)
    late.append(Double(nanoseconds) / 1e6)
  }

  func isAnswered(_ index: Int) {
    if isCounting, due[index] > 0 { answered.append((Clock.wall.now - due[index]) / 1e6) }
  }
}

/// A client that reports when a response has arrived.
private struct Answering: HTTPClient {
  let client: CurlHTTPClient
  let answered: () -> Void

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    client.get(request).handleEvents(receiveOutput: { _ in answered() }).eraseToAnyPublisher()
  }
}

/// The memory that the process uses, in KiB.
private struct Memory {
  var heap, resident: Double

  static var now: Memory {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return Memory(
      heap: Double(heapBytes) / 1024,
      resident: pages.count > 1 ? Double(pages[1])! * Double(sysconf(Int32(_SC_PAGESIZE))) / 1024 : 0)
  }
}

func after(_ seconds: Double, on loop: EventLoop, _ action: @escaping () -> Void) {
  loop.schedule(
    after: loop.now.advanced(by: .nanoseconds(Int(seconds * 1e9))), tolerance: .nanoseconds(0), options: nil, action)
}

extension [Double] {
  func quantile(_ part: Double) -> Double {
    precondition(!isEmpty, "Nothing was measured")
    return sorted()[Swift.min(count - 1, Int(Double(count) * part))]
  }
}
