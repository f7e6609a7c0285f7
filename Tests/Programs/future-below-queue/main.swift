// Below a queue, a stream waits for a promise that another queue keeps: the loop waits, too.
// Expects: 3, 4, and 5 were delivered
import Dispatch
import FeedStream

func later(_ number: Int) -> Future<Int, Never> {
  Future { promise in
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { promise(.success(number)) }
  }
}

let loop = EventLoop()
nonisolated(unsafe) var numbers: [Int] = []
let first = Just(3).receive(on: DispatchQueue.main).flatMap { later($0) }.sink { numbers.append($0) }
let second = Just(4).delay(for: .milliseconds(1), scheduler: DispatchQueue.main).map { later($0) }.switchToLatest()
  .receive(on: DispatchQueue.main).sink { numbers.append($0) }
let third = Deferred { later(5) }.subscribe(on: DispatchQueue.global()).receive(on: DispatchQueue.main)
  .sink { numbers.append($0) }
loop.run()
let texts = numbers.sorted().map { "\($0)" }
print(texts.count == 3 ? "\(texts[0]), \(texts[1]), and \(texts[2]) were delivered" : "only \(texts) were delivered")
