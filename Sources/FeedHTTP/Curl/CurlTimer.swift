import FeedStream

/// The timer with which libcurl requests its next call; it is set several times per request.
///
/// Usually, libcurl requests an immediate call and then moves a distant deadline even further away. So the loop's timer
/// is set only if it would otherwise fire too late; when it fires too early, it is set again.
final class CurlTimer {
  /// Called on the loop when the timer fires.
  @exclusivity(unchecked)  // Here and below: used several times for each request, on one thread.
  var onTime: (() -> Void)?

  private let loop: EventLoop
  private var timer: LoopTimer?
  @exclusivity(unchecked) private var wanted: StreamInstant?
  // The time at which `timer` fires.
  @exclusivity(unchecked) private var set: StreamInstant?
  @exclusivity(unchecked) private var isSoon = false
  private var soon: () -> Void = {}

  init(on loop: EventLoop) {
    self.loop = loop
    timer = LoopTimer(on: loop) { [unowned self] in isDue() }
    soon = { [weak self] in
      guard let self else { return }
      isSoon = false
      onTime?()
    }
  }

  /// libcurl's callback: requests a call in `milliseconds`, or, if negative, no further call.
  ///
  /// 0 means the next turn: acting here would call libcurl from its own callback, and waiting a millisecond would delay
  /// every request by a millisecond.
  func want(_ milliseconds: Int) {
    guard milliseconds != 0 else {
      wanted = nil
      if !isSoon { loop.schedule(soon) }
      isSoon = true
      return
    }
    wanted = milliseconds < 0 ? nil : loop.now.advanced(by: .milliseconds(milliseconds))
  }

  /// Sets the loop's timer to libcurl's current deadline. Call this after every call to libcurl.
  func settle() {
    guard let wanted else {
      // Nothing to wait for: a timer would keep the loop running.
      if set != nil, !isSoon { unset() }
      return
    }
    guard set.map({ $0 > wanted }) ?? true else { return }
    set = wanted
    timer?.start(after: loop.now.distance(to: wanted))
  }

  func close() {
    unset()
    timer?.close()
    onTime = nil
  }

  private func unset() {
    set = nil
    timer?.stop()
  }

  private func isDue() {
    set = nil
    guard let wanted, wanted <= loop.now else { return settle() }
    self.wanted = nil
    onTime?()
  }
}
