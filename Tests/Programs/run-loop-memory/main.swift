import Dispatch
import FeedStream
import Foundation

// On Linux, Foundation never releases its timers. A deadline on the main run loop for each of many values needs none.
// Expects: no growth

func residentMebibytes() -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}

let numbers = PassthroughSubject<Int, Never>()
var (sent, received) = (0, 0)
let subscription = numbers.timeout(60, scheduler: RunLoop.main).sink { _ in received += 1 }
var before = 0.0
// Values are sent while the run loop runs, as in an application.
while received < 60_000 {
  if received == sent {
    sent += 100
    DispatchQueue.main.async { for number in 0..<100 { numbers.send(number) } }
  }
  RunLoop.main.run(until: Date() + 0.000_5)
  if before == 0, received >= 10_000 { before = residentMebibytes() }
}
let growth = residentMebibytes() - before
subscription.cancel()
print(growth < 12 ? "no growth" : "grows by \(growth) MiB")
