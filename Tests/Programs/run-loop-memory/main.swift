import Dispatch
import FeedStream
import Foundation

// On Linux, Foundation never releases its timers. A deadline on the main run loop for each of many values needs none,
// and the many ticks of a timer on any run loop need one.
// Expects: no growth

func residentMebibytes() -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}

/// Prints how much the memory grows between the 10,000th event and the 60,000th, if it grows.
func check(_ name: String, count: () -> Int, run: () -> Void) -> Bool {
  while count() < 10_000 { run() }
  let before = residentMebibytes()
  while count() < 60_000 { run() }
  let growth = residentMebibytes() - before
  if growth >= 12 { print("\(name) grows by \(growth) MiB") }
  return growth < 12
}

func checkTimer(_ name: String, on runLoop: RunLoop) -> Bool {
  var ticks = 0
  let timer = Timer.publish(every: 0.000_01, on: runLoop, in: .default).autoconnect().sink { _ in ticks += 1 }
  defer { timer.cancel() }
  return check(name, count: { ticks }, run: { runLoop.run(until: Date() + 0.01) })
}

let numbers = PassthroughSubject<Int, Never>()
var (sent, received) = (0, 0)
let subscription = numbers.timeout(60, scheduler: RunLoop.main).sink { _ in received += 1 }
// Values are sent while the run loop runs, as in an application.
func sendAndRun() {
  if received == sent {
    sent += 100
    DispatchQueue.main.async { for number in 0..<100 { numbers.send(number) } }
  }
  RunLoop.main.run(until: Date() + 0.000_5)
}
var isConstant = check("timeout", count: { received }, run: sendAndRun)
subscription.cancel()

isConstant = checkTimer("a timer on the main run loop", on: .main) && isConstant

let done = DispatchSemaphore(value: 0)
nonisolated(unsafe) var isConstantOnThread = false
Thread.detachNewThread {
  isConstantOnThread = checkTimer("a timer on a thread's run loop", on: .current)
  done.signal()
}
done.wait()
if isConstant, isConstantOnThread { print("no growth") }
