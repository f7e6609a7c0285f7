import FeedStream
import Foundation
import ImageFeed
import ImageFeedTesting

extension Oracle {
  func exchange(_ exchange: VirtualExchange, given version: ScriptedServer.Version?) {
    guard let ending = exchange.ending else { return loadBegan() }
    openRequests -= 1
    closed = time.now
    guard case .asking(let asked) = phase else { return require(false, "a response arrived without a request") }
    switch ending {
    case .answered(let response):
      guard response.status == 200, let version, version.body == response.body else {
        phase = .refused(.noFeed)
        return
      }
      report.feeds += 1
      phase = .given(version, asked: asked, isSaved: false)
    case .failed(let error): phase = .refused(.noAnswer(error))
    case .cancelled: phase = .idle
    }
  }

  private func loadBegan() {
    report.polls += 1
    report.note(time.now.nanoseconds, 1)
    require(isRunning, "a process made a request after it had crashed")
    require(openRequests == 0, "two requests are open")
    openRequests += 1
    if isAskingAgain {
      isAskingAgain = false
      phase = .asking(clock.now)
      return
    }
    if let opened, let closed {
      loadEnded()
      // A tick during a load is skipped. A load ends some milliseconds after its request, because it uses the thread
      // pool.
      let wait = opened.distance(to: time.now)
      let spent = opened.distance(to: closed)
      require(
        wait == Self.interval && spent <= Self.interval
          || wait == 2 * Self.interval && spent > Self.interval - .milliseconds(100),
        "a poll came \(wait) after the last one, which took \(spent)")
    }
    opened = time.now
    if let began {
      // The first poll reads the store after the validations, so its request is some milliseconds late.
      require(began.distance(to: time.now) <= Self.patience, "the first poll came late")
      opened = began.advanced(by: latency)
      self.began = nil
    }
    shownAt = nil
    phase = .asking(clock.now)
  }

  /// Checks that the last load has ended and has shown the right result.
  private func loadEnded() {
    require(unreported == 0, "a save failed and was not reported")
    switch phase {
    case .given(let version, _, let isSaved):
      require(isSaved, "the next load began before feed \(version.number), which is shown, was saved")
      require(isShown(.remote(version)), "feed \(version.number) is the newest but \(describe(shown)) is shown")
    case .looked(let outcome):
      require(isShown(outcome), "\(outcome) should be shown instead of \(describe(shown))")
    case .idle, .asking, .refused: require(false, "a load began before the previous one completed")
    }
  }
}
