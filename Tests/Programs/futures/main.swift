// Futures without a loop, fulfilled on other threads during subscription: each value arrives once, and joins are complete.
// Expects: 2000 values, 500 triples, 300 in a merge
import Dispatch
import FeedStream
import Foundation

@Sendable func future(_ value: Int) -> Future<Int, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success(value)) } }
}
var bag: Set<AnyCancellable> = []
nonisolated(unsafe) var (values, triples, merged) = (0, 0, 0)
@Sendable func look() {
  guard values == 2_000, triples == 500, merged == 300 else { return }
  print("\(values) values, \(triples) triples, \(merged) in a merge")
  exit(0)
}
for value in 0..<2_000 {
  future(value).receive(on: DispatchQueue.main).sink { _ in
    values += 1
    look()
  }.store(in: &bag)
}
for value in 0..<500 {
  future(value).zip(future(value), future(value)).receive(on: DispatchQueue.main).sink { triple in
    if triple == (value, value, value) { triples += 1 }
    look()
  }.store(in: &bag)
}
(0..<300).publisher.flatMap { future($0) }.collect().receive(on: DispatchQueue.main).sink { all in
  merged = Set(all).count
  look()
}.store(in: &bag)
RunLoop.main.run()
