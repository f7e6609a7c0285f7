// Compares the store with the same statements in C on SQLite: replacing a feed, saving it unchanged, and reading it.
import CStore
import Foundation
import Harness
import ImageFeed

let report = Report()
if report.isShort { report.leaveOut("100000") }
/// The number of rounds: more for small feeds, each of which takes microseconds.
func rounds(_ count: Int) -> Int { (report.isShort ? 3 : 9) * (count <= 100 ? 9 : 1) }
let address = URL(string: "https://example.com/feed")!
let folder = FileManager.default.temporaryDirectory.appending(path: "feedstream-benchmark-\(getpid())").path

func images(_ count: Int, round: Int) -> [FeedImage] {
  (0..<count).map { index in
    FeedImage(
      id: UUID(), description: "Description of image number \(index) in round \(round)",
      location: "Location \(index)", url: URL(string: "https://images.example.com/\(round)/\(index).jpg")!)
  }
}

/// The number of bytes that a save adds to the write-ahead log.
func logSize(_ path: String) -> Int {
  (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
}

func compare(_ count: Int) throws {
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let path = folder + "/ours-\(count).sqlite"
  let ours = SQLiteFeedStore(path: path)
  guard let inC = cstore_open(folder + "/c-\(count).sqlite", Int32(count)) else { fatalError("No store in C") }
  defer { cstore_close(inC) }
  defer { ours.close() }

  let steps = ["save", "save unchanged", "retrieve"]
  var times = steps.map { _ in (ours: [Double](), inC: [Double]()) }
  // The first round is not counted: it creates the feed that the others replace.
  for round in 0...rounds(count) {
    let feed = CachedFeed(
      images: images(count, round: round), timestamp: Date(timeIntervalSinceReferenceDate: Double(round) * 10))
    let renewed = CachedFeed(images: feed.images, timestamp: feed.timestamp + 1)
    cstore_fill(inC, Int32(round))
    let work: [(ours: () throws -> Void, inC: () -> Void)] = [
      ({ _ = try ours.replace(for: address, with: feed, now: feed.timestamp) }, { cstore_save(inC) }),
      (
        {
          let outcome = try ours.replace(for: address, with: renewed, now: renewed.timestamp)
          precondition(outcome == .renewed, "An unchanged feed was written")
        },
        { cstore_renew(inC) }
      ),
      (
        {
          let found = try ours.retrieve(for: address)
          precondition(found?.images.count == count, "Images are missing")
        }, { cstore_retrieve(inC) }
      ),
    ]
    for (index, step) in work.enumerated() {
      let first = round % 2 == 0 ? try Clock.processor.time(step.ours).nanoseconds : 0
      let c = Clock.processor.time(step.inC).nanoseconds
      let our = round % 2 == 0 ? first : try Clock.processor.time(step.ours).nanoseconds
      guard round > 0 else { continue }
      times[index].ours.append(our)
      times[index].inC.append(c)
    }
    let found = try ours.retrieve(for: address)
    precondition(found == renewed, "What was saved is not what was read")
  }
  for (step, time) in zip(steps, times) {
    let name = "\(step), \(count) images"
    let times = ratio(time.ours, to: time.inC)
    show("| \(name) | \(number(time.ours.median / 1e6)) | \(number(time.inC.median / 1e6)) | \(number(times)) |")
    report.note("store/\(name)", 1 / times)
    report.target("\(name): within 1.5× of C", times <= 1.5, number(times))
  }
  // Expect one page, for the timestamp. A new connection restarts the log, whatever it held before.
  ours.close()
  let feed = CachedFeed(images: images(count, round: 0), timestamp: Date(timeIntervalSinceReferenceDate: 1e6))
  _ = try ours.replace(for: address, with: feed, now: feed.timestamp)
  ours.close()
  let renewed = CachedFeed(images: feed.images, timestamp: feed.timestamp + 1)
  _ = try ours.replace(for: address, with: renewed, now: renewed.timestamp)
  let written = logSize(path)
  report.target(
    "a save of \(count) unchanged images writes the timestamp's page alone", written > 0 && written < 3 * 4096,
    "\(written) bytes of log")
}

show("| Store | FeedStream, ms | SQLite in C, ms | ratio |\n|---|---|---|---|")
for count in report.isShort ? [100, 10_000] : [100, 10_000, 100_000] where report.wants("\(count)") {
  try compare(count)
}
try report.finish()
