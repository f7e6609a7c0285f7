// While a sink handles a value on the main thread, a task sends another one with the same subject.
// Traps: PassthroughSubject: touched while another thread was using it
import Dispatch
import FeedStream

nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
let subscription = subject.sink { number in
  guard number == 1 else { return }
  let isSent = DispatchSemaphore(value: 0)
  Task.detached {
    subject.send(2)
    isSent.signal()
  }
  isSent.wait()
}
subject.send(1)
print("not reached")
