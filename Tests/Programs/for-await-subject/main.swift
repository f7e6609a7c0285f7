// A plain task reads the values of a subject; in Swift 5 mode, on a thread other than the subject's.
// Expects: 1
// Swift 5 traps: touched on a thread that does not run
import FeedStream

let loop = EventLoop()
let subject = PassthroughSubject<Int, Never>()
Task {
  for await number in subject.values { print(number) }
}
loop.schedule(after: loop.now.advanced(by: .milliseconds(100))) {
  subject.send(1)
  subject.send(completion: .finished)
}
loop.run()
