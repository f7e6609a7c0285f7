// The same with a plain task, which is the main actor's in the Swift 6 mode, and in the Swift 5 mode is not: the loop waits for it
// to begin.
// Expects: 1 2 3
import FeedStream

let loop = EventLoop()
let numbers = [1, 2, 3].publisher.delay(for: .milliseconds(5), scheduler: loop).values
Task {
  var all: [String] = []
  for await number in numbers { all.append("\(number)") }
  print(all.joined(separator: " "))
}
loop.run()
