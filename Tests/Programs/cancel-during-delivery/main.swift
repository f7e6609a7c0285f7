// A sink made by hand, cancelled on another thread while a sequence delivers through an operator that holds values.
// Traps: (CONTRACT, rule 1: a stream lives on one thread)
import Dispatch
import FeedStream
import Foundation

let texts = (0..<2_000).publisher.map { "the text with the number \($0)" }
let end = Date() + 5
var round: UInt32 = 0
while Date() < end {
  round += 1
  nonisolated(unsafe) let sink = Subscribers.Sink<[String], Never>(receiveCompletion: { _ in }, receiveValue: { _ in })
  let group = DispatchGroup()
  let pause = round % 30
  DispatchQueue.global().async(group: group) {
    usleep(pause)
    sink.cancel()
  }
  texts.collect(3).subscribe(sink)
  group.wait()
}
print("not stopped")
