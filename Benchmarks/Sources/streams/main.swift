// Measures the cost of a value in a pipeline: FeedStream against OpenCombine, swift-async-algorithms and a handwritten
// loop that calls the same closures.
import Foundation
import HandWritten
import Harness
import OnAsyncAlgorithms
import OnFeedStream
import OnOpenCombine

struct Row {
  let pipeline: Pipeline
  let ours: Double
  let floor: (nanoseconds: Double, times: Double)?
  let openCombine: (nanoseconds: Double, times: Double)?
  let asyncAlgorithms: (nanoseconds: Double, times: Double)?
  let allocations: (ours: Double, openCombine: Double?)
}

func byName(_ pipelines: [Pipeline]) -> [String: Pipeline] {
  Dictionary(uniqueKeysWithValues: pipelines.map { ($0.name, $0) })
}

// For compare-futures: `--alone COUNT NAME…` measures only this library, and prints figures that a program reads.
if CommandLine.arguments.count > 3, CommandLine.arguments[1] == "--alone", let count = Int(CommandLine.arguments[2]) {
  for pipeline in OnFeedStream.pipelines() where CommandLine.arguments.dropFirst(3).contains(pipeline.name) {
    _ = pipeline.prepare(count)()
    let (result, time) = Clock.processor.time(pipeline.prepare(count))
    show("\(pipeline.name)\t\(time / Double(count))\t\(result)")
  }
  exit(0)
}

let report = Report()
let rounds = report.isShort ? 5 : 9
let slice = report.isShort ? 1.5e6 : 4e6
let floors = byName(HandWritten.pipelines())
let openCombine = byName(OnOpenCombine.pipelines())
let asyncAlgorithms = byName(OnAsyncAlgorithms.pipelines())

func measure(_ pipeline: Pipeline) throws -> Row {
  let peers = [floors, openCombine, asyncAlgorithms].map { $0[pipeline.name] }
  let expected = pipeline.prepare(20_000)()
  for peer in peers.compactMap({ $0 }) {
    let found = peer.prepare(20_000)()
    if found != expected { fatalError("\(pipeline.name): the contenders disagree, \(expected) and \(found)") }
  }
  let contenders = [pipeline] + peers.compactMap { $0 }
  let counts = contenders.map { $0.calibrate(slice) }
  let times = try interleaved(rounds: rounds, zip(contenders, counts).map { one, count in { one.measure(count) } })
  var rest = times.dropFirst()
  let compared = peers.map { peer -> (nanoseconds: Double, times: Double)? in
    guard peer != nil else { return nil }
    let its = rest.removeFirst()
    return (its.median, ratio(its, to: times[0]))
  }
  return Row(
    pipeline: pipeline, ours: times[0].median, floor: compared[0], openCombine: compared[1],
    asyncAlgorithms: compared[2],
    allocations: (pipeline.allocationsPerElement(), peers[1]?.allocationsPerElement()))
}

show(
  """
  | Pipeline | FeedStream, ns | hand-written, ns | × hand-written | OpenCombine, ns | times slower \
  | AsyncAlgorithms, ns | times slower | allocations an element: FeedStream | OpenCombine |
  |---|---|---|---|---|---|---|---|---|---|
  """)
var rows: [Row] = []
for pipeline in OnFeedStream.pipelines() where report.wants(pipeline.name) {
  let row = try measure(pipeline)
  rows.append(row)
  let cells = [
    pipeline.name, number(row.ours), number(row.floor?.nanoseconds), number(row.floor.map { 1 / $0.times }),
    number(row.openCombine?.nanoseconds), number(row.openCombine?.times), number(row.asyncAlgorithms?.nanoseconds),
    number(row.asyncAlgorithms?.times), number(row.allocations.ours), number(row.allocations.openCombine),
  ]
  show("| " + cells.joined(separator: " | ") + " |")
  let key = "streams/\(pipeline.name)/"
  if let floor = row.floor { report.note(key + "floor", floor.times) }
  if let its = row.openCombine { report.note(key + "OpenCombine", its.times) }
  if let its = row.asyncAlgorithms { report.note(key + "AsyncAlgorithms", its.times) }
}

if rows.count == OnFeedStream.pipelines().count { noteTargets(rows, report) }
try report.finish()
