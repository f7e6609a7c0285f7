import FeedStream
import Foundation

/// Shows on a terminal that a watch is running: its activity, and the time until the next check.
final class Pulse: RequestObserver {
  private let interval: Duration
  private let loop: EventLoop
  private let console: Console
  private var began: StreamInstant?
  private var checked: (at: Date, next: StreamInstant)?

  init(every interval: Duration, on session: Session) {
    self.interval = interval
    loop = session.loop
    console = session.console
    guard console.showsStatus else { return }
    let second = StreamInstant.Stride.seconds(1)
    session.keep(
      loop.schedule(after: loop.now.advanced(by: second), interval: second, tolerance: .zero, options: nil) {
        [weak self] in self?.show()
      })
  }

  func requestBegan() {
    began = loop.now
    show()
  }

  func requestEnded() {
    let now = loop.now
    var next = (began ?? now).advanced(by: interval)
    // A check that took longer than the interval is followed by a full interval.
    if next <= now { next = now.advanced(by: interval) }
    checked = (Date(), next)
    began = nil
    show()
  }

  private func show() {
    console.setStatus(Self.text(isChecking: began != nil, checked: checked?.at, wait: checked.map(wait)))
  }

  private func wait(_ check: (at: Date, next: StreamInstant)) -> Duration {
    max(.zero, loop.now.duration(to: check.next))
  }

  /// The text of the status line.
  static func text(isChecking: Bool, checked: Date?, wait: Duration?) -> String {
    guard let checked, let wait else { return "checking…" }
    return "checked \(checked.timeOfDay), " + (isChecking ? "checking again…" : "next in \(countdown(wait))")
  }

  /// Hours, minutes and seconds, rounded up: at 0s a countdown is over.
  static func countdown(_ wait: Duration) -> String {
    let (whole, fraction) = wait.components
    let seconds = whole + (fraction > 0 ? 1 : 0)
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }
    return shown.isEmpty ? "0s" : shown.map { "\($0.0)\($0.1)" }.joined()
  }
}
