// A stream that uses only the main queue or the main run loop needs no event loop. Below another queue, RunLoop.main and
// collect(.byTime) accept that queue's values.
// Expects: share 1, merge 2, delayed 3, groups 3, throttled true
import Dispatch
import FeedStream
import Foundation

var bag: Set<AnyCancellable> = []
nonisolated(unsafe) var seen: [String: Int] = [:]
@Sendable func see(_ name: String, _ count: Int = 1) {
  seen[name, default: 0] += count
  guard seen["share"] == 1, seen["merge"] == 2, seen["delayed"] == 3, seen["groups"] == 3, seen["throttled"] != nil
  else {
    return
  }
  print("share 1, merge 2, delayed 3, groups 3, throttled true")
  exit(0)
}
Just(1).delay(for: .milliseconds(5), scheduler: DispatchQueue.main).share().sink { _ in see("share") }.store(in: &bag)
Just(1).delay(for: .milliseconds(5), scheduler: DispatchQueue.main).merge(with: Just(2)).sink { _ in see("merge") }
  .store(in: &bag)
[1, 2, 3].publisher.receive(on: DispatchQueue.global()).delay(for: .milliseconds(5), scheduler: RunLoop.main)
  .sink { _ in see("delayed") }.store(in: &bag)
[1, 2, 3].publisher.receive(on: DispatchQueue.global()).collect(.byTime(DispatchQueue.main, .milliseconds(20)))
  .receive(on: DispatchQueue.main).sink { see("groups", $0.count) }.store(in: &bag)
[1, 2, 3].publisher.receive(on: DispatchQueue.global()).throttle(
  for: .milliseconds(5), scheduler: RunLoop.main, latest: true
)
.sink { _ in see("throttled") }.store(in: &bag)
RunLoop.main.run()
