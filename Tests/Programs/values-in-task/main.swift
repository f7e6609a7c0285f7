// A task makes the values that it iterates, on no loop, and the program ends before they arrive.
// Expects: done
// Warns: the program ended while a task was iterating values
import FeedStream
import Foundation

Task.detached {
  for await number in (0..<3).publisher.values {
    try? await Task.sleep(for: .seconds(5))
    print(number)
  }
}
let loop = EventLoop()
usleep(50_000)
loop.run()
print("done")
