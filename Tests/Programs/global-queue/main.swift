// A typical chain of Combine, on a concurrent queue.
// Expects: 20000
import Dispatch
import FeedStream

#if canImport(Glibc)
  import Glibc
#endif

let subscription = (0..<20_000).publisher
  .flatMap { Just($0).receive(on: DispatchQueue.global()) }
  .collect()
  .receive(on: DispatchQueue.main)
  .sink {
    print($0.count)
    exit(0)
  }
dispatchMain()
