import FeedStream
import FeedStreamTesting

/// The other publisher of a row: 7 after 0.5 ms, 8 after 2.5, 9 after 3.5, finished after 4.5, counted from its
/// subscription. It never delivers at the same instant as upstream, so that the order is clear.
func other(_ time: VirtualTimeScheduler) -> ScriptedPublisher<Int, MarbleFailure> {
  // Listed as events, because a diagram would be parsed again in each of some hundred thousand runs.
  let events: [(time: StreamInstant.Stride, event: StreamEvent<Int, MarbleFailure>)] = [
    (.microseconds(500), .value(7)), (.microseconds(2500), .value(8)), (.microseconds(3500), .value(9)),
    (.microseconds(4500), .completion(.finished)),
  ]
  return ScriptedPublisher(.cold, events, on: time)
}

/// The values of `other`.
let others = [7, 8, 9]

/// One value, delivered within the requesting call.
func constant(_ value: Int) -> AnyPublisher<Int, MarbleFailure> {
  Just(value).setFailureType(to: MarbleFailure.self).eraseToAnyPublisher()
}

struct Refusal: Error {}

/// Throws for the value 2.
func refusingTwo<T>(_ value: Int, _ result: T) throws -> T {
  if value == 2 { throw Refusal() }
  return result
}

extension Given {
  /// The values before the one for which `refusingTwo` throws.
  var beforeTwo: [Int] { Array(values.prefix { $0 != 2 }) }

  /// A failure, if `refusingTwo` has thrown.
  var endingAtTwo: Ending? { values.contains(2) ? .fails : nil }

  /// `result` when upstream finishes, nothing when it fails.
  func whenFinished<T>(_ result: T) -> [T] { fails ? [] : [result] }

  /// The sum of the values up to each.
  var sums: [Int] {
    values.indices.map { values[...$0].reduce(0, +) }
  }

  /// Half of each value, without repetitions.
  var uniqueHalves: [Int] {
    let halves = values.map { $0 / 2 }
    return halves.indices.filter { $0 == 0 || halves[$0] != halves[$0 - 1] }.map { halves[$0] }
  }

  /// The values, and the 9 with which `replaceError(with: 9)` replaces a failure.
  var replaced: [Int] { values + (fails ? [9] : []) }

  /// The values in arrays of two; the last may have one.
  var windows: [[Int]] {
    stride(from: 0, to: values.count, by: 2).map { Array(values[$0..<min($0 + 2, values.count)]) }
  }

  /// The values in arrays of two; when upstream fails, a remaining value is dropped.
  var pairs: [[Int]] { windows.filter { !fails || $0.count == 2 } }

  /// Arrays of `count` values, one begun every `step`. When upstream fails, only the full ones.
  func arrays(of count: Int, every step: Int) -> [[Int]] {
    stride(from: 0, to: values.count, by: step).map { Array(values[$0..<min($0 + count, values.count)]) }
      .filter { !fails || $0.count == count }
  }

  /// The time of upstream's completion, in milliseconds.
  var end: Double { isTimed && !offered.isEmpty ? Double(offered.count + 1) : 0 }

  /// The time when a value arrives, in milliseconds.
  func arrival(_ value: Int) -> Double { isTimed ? Double(value + 1) : 0 }

  /// The values of each stretch of `length` milliseconds. The last stretch is the one that is open when upstream
  /// finishes; when upstream fails, its values are dropped.
  func stretches(_ length: Double) -> [[Int]] {
    let full = Int(end / length)
    let all = (0...full).map { stretch in values.filter { Int(arrival($0) / length) == stretch } }
    return fails ? all.dropLast() : all
  }

  /// Everything that upstream and `other` deliver until upstream fails, in the order of time.
  private var timeline: [(time: Double, isOther: Bool, value: Int)] {
    let mine = offered.map { (arrival($0), false, $0) }
    let theirs = zip([0.5, 2.5, 3.5], others).map { ($0, true, $1) }.filter { !fails || $0.0 < end }
    return (mine + theirs).sorted { $0.0 < $1.0 }
  }

  /// The newest value of upstream with the newest of `other`, for each delivery for which `isTold` returns true.
  private func newest(_ isTold: (_ isOther: Bool) -> Bool) -> [(Int, Int)] {
    var (mine, theirs): (Int?, Int?) = (nil, nil)
    return timeline.compactMap { event in
      if event.isOther { theirs = event.value } else { mine = event.value }
      guard isTold(event.isOther), let mine, let theirs else { return nil }
      return (mine, theirs)
    }
  }

  /// The values of `combineLatest(other)`.
  var latestOfBoth: [(Int, Int)] { newest { _ in true } }

  /// The values of `withLatestFrom(other)`.
  var withLatestOfOther: [(Int, Int)] { newest { !$0 } }

  /// The completion of `zip(other)`: with a fourth value, which has no partner because `other` has finished, either one
  /// is correct.
  var endingOfZip: Ending? { offered.count > 3 ? .either : nil }

  /// The values of `expand`, level by level, where each value up to 3 makes the value that is greater by 3.
  var expanded: [Int] {
    var all = values
    guard !fails else { return all }
    var next = 0
    while next < all.count {
      if all[next] <= 3 { all.append(all[next] + 3) }
      next += 1
    }
    return all
  }
}
