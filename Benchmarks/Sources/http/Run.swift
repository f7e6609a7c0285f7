import Foundation
import Harness
import Tasks

/// The time and memory that a run's requests took.
struct Run {
  var requestsPerSecond: Double
  var processorMicroseconds: Double

  init(_ count: Int, seconds: Double, processorSeconds: Double) {
    requestsPerSecond = Double(count) / seconds
    processorMicroseconds = processorSeconds / Double(count) * 1e6
  }

  init(_ count: Int, _ spent: Spent) {
    self.init(count, seconds: spent.wall, processorSeconds: spent.processor)
  }
}

/// Times `body`, which makes `count` requests.
func timed(_ count: Int, _ body: () -> Void) -> Run {
  let processor = Clock.processor.now
  let wall = Clock.wall.time(body).nanoseconds
  return Run(count, seconds: wall / 1e9, processorSeconds: (Clock.processor.now - processor) / 1e9)
}
