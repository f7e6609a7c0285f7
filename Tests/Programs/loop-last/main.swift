// A loop that is created and run at the end, in place of RunLoop.main.run(), after all subscriptions.
// Expects: 500 on a queue, 20 on the main queue, late
import Dispatch
import FeedStream

nonisolated(unsafe) var (queued, main, late) = (0, 0, "")
var bag: Set<AnyCancellable> = []
(0..<500).publisher.receive(on: DispatchQueue(label: "values")).map { $0 + 1 }.sink { _ in queued += 1 }.store(in: &bag)
(0..<20).publisher.delay(for: .milliseconds(5), scheduler: DispatchQueue.global()).receive(on: DispatchQueue.main)
  .sink { _ in main += 1 }.store(in: &bag)
Just("late").delay(for: .milliseconds(50), scheduler: DispatchQueue.global()).sink { late = $0 }.store(in: &bag)
let loop = EventLoop()
loop.run()
print("\(queued) on a queue, \(main) on the main queue, \(late)")
