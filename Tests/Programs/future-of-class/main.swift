// Futures of outputs that aren't Sendable: their promises may be called on any thread, and the loop waits for them.
// Expects: sea, ["id": 1], 1
import Dispatch
import FeedStream

final class Image { let name = "sea" }

/// A generic function like those in libraries for Combine: the output can be any type.
func future<T>(_ work: @escaping (@escaping (Result<T, Never>) -> Void) -> Void) -> Deferred<Future<T, Never>> {
  Deferred { Future { promise in work { promise($0) } } }
}

let loop = EventLoop()
var bag: Set<AnyCancellable> = []
let image = Future<Image, Never> { promise in
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { promise(.success(Image())) }
}
let fields = Future<[String: Any], Never> { promise in
  DispatchQueue.global().async { promise(.success(["id": 1])) }
}
let number: Deferred<Future<Int, Never>> = future { done in
  nonisolated(unsafe) let done = done
  DispatchQueue.global().async { done(.success(1)) }
}
image.map(\.name).receive(on: DispatchQueue.main)
  .zip(fields.map { "\($0)" }, number)
  .sink { print("\($0), \($1), \($2)") }
  .store(in: &bag)
loop.run()
