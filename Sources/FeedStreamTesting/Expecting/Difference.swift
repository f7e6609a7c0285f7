import FeedStream

/// The time at which two streams first differ; events at the same instant are compared in order.
///
/// - Returns: `nil` if the streams are the same.
func firstDifference<Value, Failure>(
  _ expected: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)],
  _ actual: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)]
) -> StreamInstant.Stride? {
  for (expected, actual) in zip(expected, actual)
  where expected.time != actual.time || !isSame(expected.event, actual.event) {
    return min(expected.time, actual.time)
  }
  return expected.dropFirst(actual.count).first?.time ?? actual.dropFirst(expected.count).first?.time
}

/// Advice about values that look the same but differ; see ``looksSame(_:_:)``.
let lookalikeAdvice = "Values that look the same contain different objects or closures: make their type Equatable"

/// Advice about values that look the same but differ; empty if there are none.
func lookalikeHint<Value, Failure>(
  _ expected: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)],
  _ actual: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)]
) -> String {
  zip(expected, actual).contains(where: { looksSame($0.event, $1.event) }) ? "\n\(lookalikeAdvice)." : ""
}
