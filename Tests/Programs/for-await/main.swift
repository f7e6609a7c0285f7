// A task of the main actor reads values while the loop runs on the main thread.
// Expects: 1 2 3
import FeedStream

let loop = EventLoop()
let numbers = [1, 2, 3].publisher.delay(for: .milliseconds(5), scheduler: loop).values
Task { @MainActor in
  var all: [String] = []
  for await number in numbers { all.append("\(number)") }
  print(all.joined(separator: " "))
}
loop.run()
