import Dispatch
import FeedStream
import Foundation
import Synchronization

// Random pipelines over queues, tasks, loops and threads, several at a time. Each delivers every value once and one at a
// time, and completes once, unless it is cancelled; a loop runs until then; nothing is left over.
// Expects: no pipeline failed
//
//   random-pipelines [SEED [SECONDS [CASE]]]   with CASE, only this pipeline, over and over
//   VERBOSE=1 random-pipelines …               prints each pipeline when it begins, for a sanitizer's reports

let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let seed = arguments.first ?? 1
let seconds = arguments.dropFirst().first ?? 1
let onlyCase = arguments.dropFirst(2).first.map { Int($0) }

LastWords.prepare()
let next = Atomic(0)
let failures = Atomic(0)
let running = Guarded([Int: (Case, Date)]())
let deadline = Date() + Double(seconds)
let workers = DispatchGroup()
for worker in 0..<LastWords.workers {
  workers.enter()
  Thread.detachNewThread {
    while Date() < deadline {
      let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
      let current = Case(seed, onlyCase ?? index, worker: worker)
      running.withLock { $0[worker] = (current, Date()) }
      if let trouble = current.run() {
        failures.wrappingAdd(1, ordering: .relaxed)
        print(trouble)
      }
      running.withLock { $0[worker] = nil }
    }
    workers.leave()
  }
}
while workers.wait(timeout: .now() + 1) == .timedOut {
  let late = running.withLock { $0.values.filter { $0.1 < Date() - 30 }.map { $0.0 } }
  guard late.isEmpty else {
    for one in late { print("\(one.description): hangs") }
    exit(1)
  }
}
let failed = failures.load(ordering: .relaxed)
if arguments.count > 0 { print("\(next.load(ordering: .relaxed)) pipelines") }
print(failed == 0 ? "no pipeline failed" : "\(failed) pipelines failed")
exit(failed == 0 ? 0 : 1)
