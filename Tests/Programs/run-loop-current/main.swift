import Dispatch
import FeedStream
import Foundation

// RunLoop.current in main-queue code below dispatchMain(): on Linux it is a thread's own loop, which nobody runs.
// Expects: 3 ticks and a delayed value

var subscription: AnyCancellable?
DispatchQueue.main.async {
  subscription = Timer.publish(every: 0.001, on: .current, in: .common).autoconnect().prefix(3).count()
    .zip(Just("a delayed value").delay(for: .milliseconds(1), scheduler: RunLoop.current))
    .sink { count, value in
      print("\(count) ticks and \(value)")
      exit(0)
    }
}
dispatchMain()
