import FeedStream
import FeedStreamMetrics

/// The durations of a loop's turns, and the counts of what the loop waits for. Use this object only on the loop's
/// thread.
final class LoopFigures {
  private let loop: EventLoop
  private var turns = DurationHistogram()

  init(of loop: EventLoop) {
    self.loop = loop
    loop.onTurn { [weak self] in self?.turns.add($0) }
  }

  /// The metrics in the text format of Prometheus.
  var metrics: String {
    let labels = "\(MetricNames.prometheus(MetricNames.Attribute.loopName))=\"gallery\""
    let turn = MetricNames.prometheus(MetricNames.turnDuration, unit: "seconds")
    let numbers = [
      (
        MetricNames.loopHandles, "Sockets, timers and other handles that keep the loop running.", loop.activeHandleCount
      ),
      (MetricNames.loopOffloads, "Work items on the thread pool that haven't completed.", loop.offloadedCount),
    ]
    return "# HELP \(turn) Duration of the loop's turns, excluding time spent waiting.\n# TYPE \(turn) histogram\n"
      + turns.text(turn, labels)
      + numbers.map { name, help, value in
        let name = MetricNames.prometheus(name)
        return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name){\(labels)} \(value)\n"
      }
      .joined()
  }
}
