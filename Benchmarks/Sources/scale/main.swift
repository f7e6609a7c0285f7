// Measures scale: many feeds, and one very large feed, polled on one loop through the whole pipeline with its cache.
//
//     scale [--short] [--every SECONDS] [feeds] [large]      a minute by default; the short form takes ten seconds
import Foundation
import Harness

let environment = ProcessInfo.processInfo.environment
guard let origin = environment["ORIGIN"].flatMap(URL.init(string:)), let folder = environment["ORIGIN_FOLDER"] else {
  fatalError("scale: no origin to ask; run Scripts/bench scale, which starts one")
}

// Each number of feeds has its own process, so that the measured memory is theirs alone. The code below starts this
// process again.
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "poll" {
  let figures = try poll(
    Int(CommandLine.arguments[2])!, every: Double(CommandLine.arguments[3])!, intervals: Int(CommandLine.arguments[4])!,
    from: origin)
  FileHandle.standardOutput.write(try JSONEncoder().encode(figures))
  exit(0)
}

func startPolling(_ feeds: Int, every seconds: Double, intervals: Int) throws -> () throws -> PollingFigures {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(filePath: CommandLine.arguments[0])
  process.arguments = ["poll", "\(feeds)", "\(seconds)", "\(intervals)"]
  process.standardOutput = output
  try process.run()
  return {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    precondition(process.terminationStatus == 0, "Polling \(feeds) feeds failed")
    return try JSONDecoder().decode(PollingFigures.self, from: data)
  }
}

let report = Report()
if report.isShort { report.leaveOut("scale/") }
let seconds = report.every ?? (report.isShort ? 10 : 60)

if report.wants("feeds") {
  let counts = report.isShort ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]
  // Few feeds leave the machine idle: their processes run at the same time, and the one with the most feeds runs alone.
  let small = try counts.dropLast().map { try startPolling($0, every: seconds, intervals: 1) }
  let figures = try small.map { try $0() } + [startPolling(counts.last!, every: seconds, intervals: 1)()]
  show("Each feed is polled every \(number(seconds)) s.\n")
  show(
    """
    | Feeds | polls | processor time a poll, µs | of one processor | late, 99 % | latest | answered after, 99 % \
    | heap a feed, KiB | resident a feed, KiB |
    |---|---|---|---|---|---|---|---|---|
    """)
  for it in figures {
    let cells = [
      "\(it.feeds)", "\(it.polls)", number(it.processorMicrosecondsPerPoll), number(it.processorShare * 100) + " %",
      number(it.late99) + " ms", number(it.latest) + " ms", number(it.answered99) + " ms", number(it.heapPerFeed),
      number(it.residentPerFeed),
    ]
    show("| " + cells.joined(separator: " | ") + " |")
  }
  let most = figures.last!
  let fewer = figures[figures.count - 2]
  let growth = most.processorMicrosecondsPerPoll / fewer.processorMicrosecondsPerPoll
  report.note("scale/linear cost", 1 / growth)
  report.target(
    "linear cost: a poll of \(most.feeds) feeds costs at most 1.25 times one of \(fewer.feeds)", growth <= 1.25,
    number(growth))
  report.target(
    "linear memory: a feed of \(most.feeds) takes at most 1.25 times one of \(fewer.feeds)",
    most.heapPerFeed <= fewer.heapPerFeed * 1.25, number(most.heapPerFeed / fewer.heapPerFeed))
  report.target(
    "\(most.feeds) feeds: polls late by at most 10 ms at the 99th percentile", most.late99 <= 10, number(most.late99))
}

if report.wants("large") {
  let feed = LargeFeed(images: 100_000, folder: URL(filePath: folder), origin: origin)
  let found = try feed.run(rounds: report.isShort ? 1 : 3, every: 4)
  show("\n| A feed of \(feed.images) images | the loop late by at most, ms | at work at most, ms |\n|---|---|---|")
  for step in LargeFeed.Step.allCases {
    let rounds = found[step]!
    // Use the median of the rounds' maximums, because other programs may have slowed down a round.
    let (wall, processor) = (rounds.map(\.wall).median, rounds.map(\.processor).median)
    show("| \(step.rawValue) | \(number(wall)) | \(number(processor)) |")
    report.target("\(step.rawValue): the loop blocked for at most 5 ms", wall <= 5, number(wall))
  }
}
try report.finish()
