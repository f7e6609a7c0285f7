import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import ImageFeedTesting

extension Oracle {
  /// Accounts for a call to the store, and checks that it was expected.
  func disk(_ event: DiskEvent, latency: StreamInstant.Stride) {
    report.diskCalls += 1
    if case .failed = event.outcome { report.diskFailures += 1 }
    report.note(event.time.nanoseconds, 3)
    switch event.call {
    case .retrieve:
      let isSecondLook = mayLookAgain && lastLook?.time == time.now
      mayLookAgain = false
      if !isSecondLook { checkOrder(latency) }
      retrieved(event.outcome, isSecondLook)
    case .replace(_, let feed):
      checkOrder(latency)
      replaced(by: feed, event.outcome)
    case .summary: checkOrder(latency)
    case .renew(_, let renewal):
      checkOrder(latency)
      renewed(with: renewal, event.outcome)
    case .delete(_, let condition): deleted(if: condition, event.outcome)
    case .summaries, .deleteAll, .health, .hostHealth, .claim, .complete, .visit, .release, .leaseLost, .decisions:
      break
    }
  }

  /// Checks that a call begins only after the previous call's result was delivered.
  private func checkOrder(_ latency: StreamInstant.Stride) {
    if let lastCall { require(lastCall.distance(to: time.now) >= latency, "two calls to the store overlap") }
    lastCall = time.now
  }

  private func retrieved(_ outcome: DiskEvent.Outcome, _ isSecondLook: Bool) {
    let isValidation = isSecondLook || validationsDue > 0
    if isValidation, !isSecondLook { validationsDue -= 1 }
    var hasFailed = false
    if case .failed = outcome { hasFailed = true }
    lastLook = (time.now, clock.now, hasFailed, isValidation)
    if case .retrieved(let feed) = outcome {
      require(feed == saved, "the store returned \(describe(feed)) instead of \(describe(saved))")
      if isValidation, let feed, !isFresh(feed.timestamp, at: clock.now) {
        deletionDue = "\(describe(feed)), which has expired,"
      }
    } else if hasFailed, isValidation, !isSecondLook {
      deletionDue = "a feed that cannot be read"
    }
    guard !isValidation else { return }
    if case .given(let version, _, isSaved: false) = phase {
      // The server has sent the saved feed again, so the saved one is shown; if it can't be read, the whole feed is
      // requested.
      require(
        version.images == saved?.images || saved == nil, "a feed other than feed \(version.number) was read")
      if case .retrieved(_?) = outcome { return }
      isAskingAgain = true
      return
    }
    guard case .refused(let refusal) = phase else {
      return require(false, "the cache was read, but the server had not failed")
    }
    switch outcome {
    case .retrieved(let feed?) where isFresh(feed.timestamp, at: clock.now):
      foundFresh = time.now
      phase = .looked(.saved(feed, because: refusal))
    case .retrieved(let feed?):
      phase = .looked(.error(refusal, cache: .expired(age: age(of: feed.timestamp))))
    case .failed(let error): phase = .looked(.error(refusal, cache: .failed(error)))
    default: phase = .looked(.error(refusal, cache: .empty))
    }
  }

  private func deleted(if condition: FeedDeletionCondition, _ outcome: DiskEvent.Outcome) {
    deletionDue = nil
    guard let look = lastLook, look.time == time.now else {
      return require(false, "a feed that had not been read was deleted")
    }
    require(look.isValidation, "a load deleted a feed")
    switch condition {
    case .always: require(false, "a feed was deleted without a condition")
    case .unreadable: require(look.hasFailed, "a feed that can be read was deleted as unreadable")
    case .timestamp(let timestamp):
      require(!isFresh(timestamp, at: look.wall), "a feed that had not expired was deleted")
    }
    switch outcome {
    case .deleted(false): mayLookAgain = look.hasFailed
    case .deleted(true):
      report.deletions += 1
      saved = nil
    case .crashed(committed: true): saved = nil
    default: break
    }
  }

  private func age(of timestamp: Date) -> Duration {
    .microseconds(((clock.now.timeIntervalSince1970 - timestamp.timeIntervalSince1970) * 1e6).rounded())
  }

  private func replaced(by feed: CachedFeed, _ outcome: DiskEvent.Outcome) {
    guard case .given(let version, let asked, isSaved: false) = phase else {
      return require(false, "a feed that the server had not just sent was saved")
    }
    require(feed.images == version.images, "the saved feed is not feed \(version.number)")
    require(
      feed.timestamp == asked,
      "feed \(version.number) was requested at \(exact(asked)) but saved as of \(exact(feed.timestamp))")
    require(isShown(.remote(version)), "feed \(version.number) is saved before it is shown")
    phase = .given(version, asked: asked, isSaved: true)
    wrote(feed, asked: asked, outcome)
  }

  /// Checks the renewal of a saved feed that the server has sent again.
  private func renewed(with renewal: FeedRenewal, _ outcome: DiskEvent.Outcome) {
    guard case .given(let version, let asked, isSaved: false) = phase, let saved, version.images == saved.images else {
      return require(false, "a feed that the server had not just sent was renewed")
    }
    require(
      renewal.timestamp == asked,
      "feed \(version.number) was requested at \(exact(asked)) but renewed as of \(exact(renewal.timestamp))")
    require(isShown(.remote(version)), "feed \(version.number) is renewed before it is shown")
    phase = .given(version, asked: asked, isSaved: true)
    wrote(CachedFeed(saved.images, timestamp: renewal.timestamp, validators: renewal.validators), asked: asked, outcome)
  }

  private func wrote(_ feed: CachedFeed, asked: Date, _ outcome: DiskEvent.Outcome) {
    switch outcome {
    case .replaced(.superseded(by: let other)), .renewed(.superseded(by: let other)?):
      report.superseded += 1
      let lead = other.timeIntervalSince(clock.now)
      require(
        other == saved?.timestamp && other > asked && lead <= 300,
        "a feed was superseded by one that isn't saved, isn't newer, or is more than 5 minutes in the future")
    case .renewed(nil): require(false, "there was no feed to renew")
    case .replaced, .renewed:
      report.saves += 1
      saved = feed
    case .crashed(committed: true): saved = feed
    case .failed: unreported += 1
    default: break
    }
  }

  /// Called when the pipeline reports a save that failed.
  func reported(_ error: FeedStoreError) {
    require(unreported > 0, "a save was reported as failed, but did not fail: \(error)")
    unreported -= 1
  }
}
