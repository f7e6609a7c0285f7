// The loop returns although a subscription that was made before the loop is live.
// Expects: done
// Warns: with this subscription still live
import FeedStream

let subject = PassthroughSubject<Int, Never>()
let subscription = subject.sink { print($0) }
EventLoop().run()
print("done")
