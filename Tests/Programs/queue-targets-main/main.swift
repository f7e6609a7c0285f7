// A queue that targets the main queue works like the main queue, below dispatchMain(), too.
// Expects: 300 sent, 100 shared twice, 50 joined, 3 delayed, 3 ticks, set 100 times
import Dispatch
import FeedStream
import Foundation

let screen = DispatchQueue(label: "screen", target: .main)
let nested = DispatchQueue(label: "nested", target: screen)
nonisolated(unsafe) var bag: Set<AnyCancellable> = []
nonisolated(unsafe) var counts: [String: Int] = [:]
@Sendable func see(_ name: String) {
  counts[name, default: 0] += 1
  let all = ["sent": 300, "shared": 200, "joined": 50, "delayed": 3, "ticks": 3, "set": 100]
  guard counts == all else { return }
  print("300 sent, 100 shared twice, 50 joined, 3 delayed, 3 ticks, set 100 times")
  exit(0)
}

final class Model { @Published var number = 0 }

nonisolated(unsafe) let model = Model()
nonisolated(unsafe) let numbers = PassthroughSubject<Int, Never>()
numbers.sink { _ in see("sent") }.store(in: &bag)
model.$number.dropFirst().sink { _ in see("set") }.store(in: &bag)
let shared = (0..<100).publisher.receive(on: DispatchQueue.global()).receive(on: screen).share()
for _ in 0..<2 { shared.sink { _ in see("shared") }.store(in: &bag) }
(0..<50).publisher.receive(on: nested).zip((0..<50).publisher.delay(for: .milliseconds(2), scheduler: screen)).share()
  .sink { _ in see("joined") }.store(in: &bag)
(0..<3).publisher.delay(for: .milliseconds(2), scheduler: screen).multicast(subject: CurrentValueSubject(-1))
  .autoconnect().filter { $0 >= 0 }.sink { _ in see("delayed") }.store(in: &bag)
screen.timer(every: .milliseconds(1)).autoconnect().prefix(3).share().sink { _ in see("ticks") }.store(in: &bag)
DispatchQueue.global().async {
  for number in 0..<300 {
    // Several threads serve the main queue.
    (number % 2 == 0 ? screen : nested).async { numbers.send(number) }
    if number < 100 { screen.async { model.number = number } }
  }
}
dispatchMain()
