// A model of the main actor uses the main queue's loop, and sends values through the main queue and other queues.
// Expects: 60 values
import Dispatch
import FeedStream

@MainActor final class Model {
  let numbers = PassthroughSubject<Int, Never>()
  let latest = CurrentValueSubject<Int, Never>(0)
  var count = 0
  private var cancellables: Set<AnyCancellable> = []

  init() {
    let loop = EventLoop.main
    numbers.receive(on: DispatchQueue.main).sink { [unowned self] _ in count += 1 }.store(in: &cancellables)
    numbers.flatMap { Just($0).receive(on: DispatchQueue.global()) }.receive(on: loop)
      .sink { [unowned self] in latest.send($0) }.store(in: &cancellables)
    numbers.receive(on: loop).sink { [unowned self] _ in count += 1 }.store(in: &cancellables)
    latest.dropFirst().sink { [unowned self] _ in count += 1 }.store(in: &cancellables)
  }
}

let model = Model()
for number in 1...20 {
  model.numbers.send(number)
  try await Task.sleep(for: .milliseconds(1))
}
while model.count < 60 { try await Task.sleep(for: .milliseconds(1)) }
print("\(model.count) values")
