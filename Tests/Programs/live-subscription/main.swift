// The loop returns although a subscription is live.
// Warns: with this subscription still live
import FeedStream

let loop = EventLoop()
let subject = PassthroughSubject<Int, Never>()
let subscription = subject.sink { print($0) }
loop.run()
print("done")
