// Subjects, timers and @Published properties whose streams cross to a queue are released with their owner.
// Expects: 0 of 600 values are left
import Dispatch
import FeedStream
import Foundation

final class Value: Sendable {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var number = 0
  static var count: Int { lock.withLock { number } }
  private static func add(_ change: Int) { lock.withLock { number += change } }

  init() { Self.add(1) }
  deinit { Self.add(-1) }
}

final class Model {
  @Published var value = Value()
  let latest = CurrentValueSubject<Value, Never>(Value())
  let events = PassthroughSubject<Value, Never>()
  var subscriptions: Set<AnyCancellable> = []
}

let queue = DispatchQueue(label: "work")
for _ in 0..<300 {
  let model = Model()
  model.$value.receive(on: queue).sink { _ in }.store(in: &model.subscriptions)
  model.latest.debounce(for: .milliseconds(1), scheduler: queue).sink { _ in }.store(in: &model.subscriptions)
  model.latest.combineLatest(model.$value.receive(on: queue)).sink { _ in }.store(in: &model.subscriptions)
  model.events.receive(on: queue).sink { _ in }.store(in: &model.subscriptions)
  model.events.send(Value())
  RunLoop.main.run(until: Date() + 0.001)
}
let end = Date() + 10
while Value.count > 0, Date() < end { RunLoop.main.run(until: Date() + 0.01) }
print("\(Value.count) of 600 values are left")
