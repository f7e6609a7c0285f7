import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// The diagrams in the documentation show what the operators do: a column is a millisecond.
@Suite(.settled) struct DrawnInTextTests {
  @Test(arguments: DrawnRow.all) func `each diagram in the documentation shows what the operator does`(_ row: DrawnRow)
    throws
  {
    let drawing = try row.drawing()
    let expected = try drawing.lane(row.lane, isWide: row.isWide)
    let actual: [(instant: Int, name: String)] = withVirtualTime { time in
      let sources = DrawnSources(drawing: drawing, time: time)
      let recorder = row.build(sources).record(on: time, demand: drawing.demand)
      time.run()
      let events = drawing.goesOn(row.lane) ? recorder.events.dropLast() : recorder.events[...]
      return events.map { event in
        let name =
          switch event.content {
          case .value(let value): row.isWide ? Drawing.bare(value) : value
          case .completion(.finished): "|"
          case .completion(.failure): "#"
          }
        return (Int(event.time.nanoseconds / 1_000_000), name)
      }
    }
    #expect(actual.map(\.name) == expected.map(\.name), "\(row)")
    for ((instant, _), token) in zip(actual, expected) {
      #expect(
        token.instants.contains(instant), "\(row): \(token.name) is drawn at \(token.instants), comes at \(instant)")
    }
  }

  /// Diagrams that can't be played in virtual time, or that show only names.
  private static let unplayed: [String: String] = [
    "Concurrency": "tasks run on real threads",
    "Foundation": "coders and the run loop are Foundation's",
    "Operators/Effects/Breakpoint.swift": "the drawn failure would stop the process",
    "Operators/Effects/Print.swift": "it would print",
    "Operators/Sharing/Multicast.swift": "the second drawing shows a class",
    "Operators/Sharing/ShareResetting.swift": "the upstream lives twice",
    "Operators/Timing/ReceiveOn.swift": "a turn of the loop takes no column",
    "Operators/Timing/SubscribeOn.swift": "a turn of the loop takes no column",
    "Operators/Transforming/Encode.swift": "the values are JSON",
    "Parallel": "computing takes no virtual time",
    "IO": "the world's side of a handle has a virtual twin and tests of its own",
    "Publishers/Timer.swift": "Interval is the same",
    "Publishers/Using.swift": "its lanes are a resource's",
    "Subjects": "the lanes are a program's calls",
  ]

  @Test func `every diagram in an operator's documentation is tested`() throws {
    let sources = DrawnRow.folder.deletingLastPathComponent()
    let files = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
    #expect(files.count > 100)
    for file in files where file.hasSuffix(".swift") {
      let played = DrawnRow.all.filter {
        DrawnRow.folder.appending(path: "\($0.file).swift").standardized.path.hasSuffix("FeedStream/" + file)
      }
      for block in try DrawnRow.blocks(in: "../" + file) where block.contains(where: { $0.hasPrefix("downstream ") }) {
        let isExcused = Self.unplayed.keys.contains { file.hasPrefix($0) }
        #expect(isExcused || played.contains { $0.shows(block) }, "\(file):\n\(block.joined(separator: "\n"))")
      }
    }
  }

  @Test func `a diagram's lane is parsed by its columns`() throws {
    let drawing = Drawing(lines: [
      "upstream    -a-(bc)d|", "lanes       --[1,2]-20|", "suffix         -x",
      "demand      1--2---∞",
    ])
    let tokens = try drawing.lane("upstream", isWide: false)
    #expect(tokens.map(\.name) == ["a", "b", "c", "d", "|"])
    #expect(tokens.map(\.instants) == [[1], [3], [3], [7, 3], [8, 7, 3]].map(Set.init))
    #expect(try drawing.lane("lanes", isWide: true).map(\.name) == ["[1,2]", "20", "|"])
    #expect(try drawing.lane("lanes", isWide: true).map(\.instants) == [[2], [8], [10, 8]].map(Set.init))
    #expect(drawing.marbles("suffix") == "----x")
    #expect(drawing.begin(of: "suffix") == 3)
    let later = [(3, Subscribers.Demand.max(2)), (7, .unlimited)].map {
      DemandScript.Later(after: .milliseconds($0.0), $0.1)
    }
    #expect("\(drawing.demand)" == "\(DemandScript(initial: .max(1), later: later))")
  }
}
