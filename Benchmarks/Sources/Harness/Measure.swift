import CMalloc

#if canImport(Glibc)
  import Glibc
#endif

public enum Clock {
  /// The process's CPU time: steady even on a machine that other programs use.
  case processor
  /// This thread's CPU time.
  case thread
  /// Elapsed time, as a user sees it: for benchmarks whose threads wait for one another.
  case wall

  /// Nanoseconds from an arbitrary start.
  public var now: Double {
    var time = timespec()
    let clock =
      switch self {
      case .processor: CLOCK_PROCESS_CPUTIME_ID
      case .thread: CLOCK_THREAD_CPUTIME_ID
      case .wall: CLOCK_MONOTONIC
      }
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  public func time<Result>(_ body: () throws -> Result) rethrows -> (result: Result, nanoseconds: Double) {
    let start = now
    let result = try body()
    return (result, now - start)
  }
}

/// The number of bytes that the process has allocated and not freed.
public var heapBytes: Int { Int(bytes_in_use()) }

extension Array where Element == Double {
  public var median: Double {
    precondition(!isEmpty, "Measure at least once before asking for a median")
    let sorted = self.sorted()
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2
  }
}

/// Measures contenders in turn, so that other work of the machine affects all of them.
///
/// - Returns: for each contender, the nanoseconds of each round.
public func interleaved(rounds: Int, _ contenders: [() throws -> Double]) throws -> [[Double]] {
  var times = contenders.map { _ in [Double]() }
  for round in 0..<rounds {
    // Reverse every other round, so that no contender is always first.
    let order = round % 2 == 0 ? Array(contenders.indices) : contenders.indices.reversed()
    for index in order { times[index].append(try contenders[index]()) }
  }
  return times
}

/// The median of the rounds' ratios.
public func ratio(_ numerator: [Double], to denominator: [Double]) -> Double {
  zip(numerator, denominator).map { $0 / $1 }.median
}

extension Pipeline {
  /// Nanoseconds per element of one run over `count` elements.
  public func measure(_ count: Int) -> Double {
    let run = prepare(count)
    return Clock.processor.time(run).nanoseconds / Double(count)
  }

  /// The number of elements that take about `nanoseconds`.
  public func calibrate(_ nanoseconds: Double) -> Int {
    var count = 20_000
    while true {
      let time = measure(count) * Double(count)
      if time >= nanoseconds / 4 || count > 1 << 26 {
        return max(20_000, Int(Double(count) * nanoseconds / time) / 20_000 * 20_000)
      }
      count *= 4
    }
  }

  /// The number of blocks that an element allocates on this thread, without the setup.
  public func allocationsPerElement() -> Double {
    func allocated(_ count: Int) -> Double {
      let run = prepare(count)
      let before = allocations()
      _ = run()
      return Double(allocations() - before)
    }
    return (allocated(60_000) - allocated(20_000)) / 40_000
  }
}
