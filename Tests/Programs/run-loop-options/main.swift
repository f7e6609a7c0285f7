// RunLoop.main with options in an asynchronous main, where no code runs that loop.
// Expects: 1 and 2
import FeedStream
import Foundation

var values: [Int] = []
let options = RunLoop.SchedulerOptions(mode: .common)
for await value in [1, 2].publisher.receive(on: RunLoop.main, options: options).values { values.append(value) }
print("\(values[0]) and \(values[1])")
