import FeedStream
import Search

let loop = EventLoop()
let typing = PassthroughSubject<String, Never>()
let subscription = typing.searches(on: loop).sink { print($0) }

// The user types "sea", one letter every 50 ms, and then closes the search field.
for (index, text) in ["s", "se", "sea"].enumerated() {
  loop.schedule(after: loop.now.advanced(by: .milliseconds(50 * index))) { typing.send(text) }
}
loop.schedule(after: loop.now.advanced(by: .milliseconds(400))) { typing.send(completion: .finished) }

loop.run()  // returns when nothing is left to do
subscription.cancel()
