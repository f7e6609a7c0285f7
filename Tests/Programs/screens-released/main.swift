import FeedStream
import Foundation
import Synchronization

// Screens that come and go, each with time operators on queues, without a loop: what their closures hold is released.
// Expects: 0 of 150 pages are left

final class Page {
  // Any thread may release a page.
  static let count = Atomic(0)
  let data = [UInt8](repeating: 1, count: 1_000)
  init() { Page.count.add(1, ordering: .relaxed) }
  deinit { Page.count.subtract(1, ordering: .relaxed) }
}

final class Screen {
  @Published var text = ""
  var subscriptions: [AnyCancellable] = []

  init() {
    let (a, b, c) = (Page(), Page(), Page())
    $text.debounce(for: .milliseconds(2), scheduler: DispatchQueue.main).sink { _ in _ = a.data }
      .store(in: &subscriptions)
    $text.throttle(for: .milliseconds(2), scheduler: RunLoop.main, latest: true).sink { _ in _ = b.data }
      .store(in: &subscriptions)
    $text.timeout(.milliseconds(20), scheduler: DispatchQueue.main).sink { _ in _ = c.data }
      .store(in: &subscriptions)
  }
}

for _ in 0..<50 {
  let screen = Screen()
  screen.text = "a"
  RunLoop.main.run(until: Date() + 0.003)
}
for _ in 0..<500 where Page.count.load(ordering: .relaxed) > 0 { RunLoop.main.run(until: Date() + 0.02) }
print("\(Page.count.load(ordering: .relaxed)) of 150 pages are left")
