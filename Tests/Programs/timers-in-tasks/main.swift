import FeedStream
import Foundation

// Timers of the main run loop whose ticks tasks iterate, on any thread.
// Expects: 200 timers ticked 3 times

// A tick that no task has requested yet is dropped, as in Combine.
StreamDiagnostics.onDrop { _ in }

struct App {
  static func ticks() async -> Int {
    var count = 0
    for await _ in Timer.publish(every: 0.001, on: .main, in: .common).autoconnect().prefix(3).values { count += 1 }
    return count
  }

  static func main() async {
    var complete = 0
    for _ in 0..<50 {
      await withTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { await ticks() } }
        for await count in group where count == 3 { complete += 1 }
      }
    }
    print("\(complete) timers ticked 3 times")
  }
}

await App.main()
