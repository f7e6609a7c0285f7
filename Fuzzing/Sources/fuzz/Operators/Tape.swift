import FeedStream

/// The fuzzer's bytes, read as small decisions; when they run out, every decision is 0.
struct Tape {
  private var rest: Slice<UnsafeBufferPointer<UInt8>>

  init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) { rest = bytes }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

  /// A number from 0 up to `limit`, which is excluded.
  mutating func below(_ limit: Int) -> Int { byte() % limit }

  /// A demand: mostly for a few values, sometimes unlimited.
  mutating func demand() -> Subscribers.Demand {
    switch byte() % 16 {
    case 0..<7: .max(1)
    case 7..<11: .max(2)
    case 11, 12: .max(5)
    case 13: .max(.max)
    default: .unlimited
    }
  }
}
