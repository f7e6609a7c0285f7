// Timers are connected and cancelled on the main queue below dispatchMain(), which changes the main queue's thread. No tick may
// follow a cancellation.
// Expects: 60 timers cancelled, 0 late ticks
import Dispatch
import FeedStream
import Foundation

var (lateTicks, left) = (0, 60)
var subscriptions: Set<AnyCancellable> = []
for _ in 0..<60 {
  DispatchQueue.main.async {
    var isCancelled = false
    let timer = Timer.publish(every: 0.003, on: .main, in: .common)
    timer.sink { _ in if isCancelled { lateTicks += 1 } }.store(in: &subscriptions)
    // Threads of other queues take turns in serving the main queue.
    Timer.publish(every: 0.002, on: .main, in: .common).autoconnect()
      .flatMap { _ in Just(1).receive(on: DispatchQueue.global()) }
      .receive(on: DispatchQueue.main).sink { _ in }.store(in: &subscriptions)
    let connection = timer.connect()
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(25)) {
      connection.cancel()
      isCancelled = true
      DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(10)) {
        left -= 1
        if left == 0 {
          print("60 timers cancelled, \(lateTicks) late ticks")
          exit(0)
        }
      }
    }
  }
}
dispatchMain()
