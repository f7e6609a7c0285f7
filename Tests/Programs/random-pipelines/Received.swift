import Dispatch
import Synchronization

/// The values and the completion that a subscriber received, on any thread.
final class Received: Sendable {
  private let state = Guarded((values: [Int](), completions: 0, mayDeliver: Int.max, trouble: ""))
  private let isInside = Atomic(false)
  let ended = DispatchSemaphore(value: 0)

  func value(_ value: Int) {
    enter()
    state.withLock { state in
      if state.completions > 0 { state.trouble += " a value after the completion;" }
      if state.mayDeliver == 0 { state.trouble += " a value after the cancellation;" } else { state.mayDeliver -= 1 }
      state.values.append(value)
    }
    isInside.store(false, ordering: .releasing)
  }

  func completion() {
    enter()
    state.withLock { $0.completions += 1 }
    isInside.store(false, ordering: .releasing)
    ended.signal()
  }

  private func enter() {
    if isInside.exchange(true, ordering: .acquiring) { trouble("two deliveries at a time") }
  }

  /// Called when the pipeline has been cancelled: by a delivery, or on a thread beside which one may be in progress.
  func close(withinDelivery: Bool) { state.withLock { $0.mayDeliver = withinDelivery ? 0 : 1 } }

  func trouble(_ what: String) { state.withLock { $0.trouble += " \(what);" } }
  var hasEnded: Bool { state.withLock { $0.completions > 0 } }
  var count: Int { state.withLock { $0.values.count } }

  func verdict(_ pipeline: Pipeline, isCancelled: Bool) -> String? {
    let (values, completions, _, trouble) = state.withLock { $0 }
    var text = trouble
    if completions > 1 { text += " \(completions) completions;" }
    if completions == 1 || !isCancelled {
      let (found, expected) =
        pipeline.isOrdered ? (values, pipeline.expected) : (values.sorted(), pipeline.expected.sorted())
      if found != expected {
        text += " \(found.count) values for \(expected.count): \(found.prefix(5)) for \(expected.prefix(5));"
      }
    } else if pipeline.isOrdered, values != Array(pipeline.expected.prefix(values.count)) {
      text += " wrong values before the cancellation;"
    }
    return text.isEmpty ? nil : text
  }
}
