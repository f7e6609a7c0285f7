// The same with a plain task, which is the main actor's in the Swift 6 mode, and in the Swift 5 mode is not: there the loop may
// return before the task begins, and says so.
// Expects: 1 2 3
// Swift 5 warns: before a task had iterated the values
import FeedStream

let loop = EventLoop()
let numbers = [1, 2, 3].publisher.delay(for: .milliseconds(5), scheduler: loop).values
Task {
  var all: [String] = []
  for await number in numbers { all.append("\(number)") }
  print(all.joined(separator: " "))
}
loop.run()
