// The sender of a Create that was subscribed to before the loop was made.
// Traps: Make an EventLoop on this thread before you subscribe
import Dispatch
import FeedStream

let source = Create<Int, Never> { emitter in
  let sender = emitter.sender
  DispatchQueue.global().async { sender.send(1) }
}
let subscription = source.sink { print($0) }
EventLoop().run()
