import Dispatch
import FeedStream
import Foundation

// Subjects that only the main queue uses, in a program that calls dispatchMain(): their streams cross to a queue, which cancels
// them. Any thread may run the main queue's code, and the queue's code afterwards.
// Expects: 200 streams are complete

nonisolated(unsafe) var subscriptions: [AnyCancellable] = []
nonisolated(unsafe) var complete = 0
let queue = DispatchQueue(label: "values")

@Sendable func start(_ left: Int) {
  guard left > 0 else { return }
  let numbers = PassthroughSubject<Int, Never>()
  let subscription = numbers.receive(on: queue).prefix(2).sink { _ in
    DispatchQueue.main.async {
      complete += 1
      if complete == 200 {
        print("\(complete) streams are complete")
        exit(0)
      }
      start(left - 1)
    }
  } receiveValue: { _ in
  }
  subscriptions.append(subscription)
  nonisolated(unsafe) let sent = numbers
  for number in 0..<2 {
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(number + 1)) { sent.send(number) }
  }
}

for _ in 0..<10 { DispatchQueue.main.async { start(20) } }
dispatchMain()
