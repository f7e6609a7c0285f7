import FeedStream
import ImageFeed

extension FeedHub {
  /// Saves the changes; those that are made while the store is busy are saved together.
  func save() {
    isUnsaved = true
    delayed.take()?.cancel()
    if !isSaving { write() }
  }

  /// Saves the changes after a while, together with those of other deliveries.
  func saveSoon() {
    let isNext = isUnsaved && isSaving
    isUnsaved = true
    guard store != nil, !isNext, delayed == nil else { return }
    delayed = scheduler.once(after: options.quiet) { [weak self] in
      guard let self else { return }
      delayed = nil
      // After a running write, the next one begins.
      if isUnsaved, !isSaving { write() }
    }
  }

  /// Notes what the next write saves of a subscription.
  func noteChange(_ change: HubChange, of key: HubSubscription.Key) {
    guard store != nil else { return }
    if subscriptions[key] == nil, changes[key] == nil {
      let removals = (Array(changes.keys) + writing.keys).count { subscriptions[$0] == nil }
      guard removals < options.mostSubscriptions else { return }
    }
    changes[key, default: []].formUnion(change)
  }

  func write() {
    guard let store else { return }
    delayed.take()?.cancel()
    (isSaving, isUnsaved) = (true, false)
    // At the end, another write may still be running, and may fail.
    writing.merge(changes) { $0.union($1) }
    changes = [:]
    let (attempted, known) = (writing, subscriptions)
    saver.perform {
      () throws(FeedStoreError) in
      try store.changeNotes(replacing: false) { notes in
        let saved = try notes.note(.hub, as: HubNote.self)
        let note = HubNote(saved, with: attempted, of: known)
        try notes.set(note, at: .hub, isKept: false)
        return Written(before: saved, after: note)
      }
    } completion: { [weak self, report] (result: Result<Written, FeedStoreError>) in
      if case .failure(let error) = result { report(error) }
      // After the end, the write that `cancel()` began saves everything.
      guard let self, !isOver else { return }
      isSaving = false
      writing = [:]
      switch result {
      case .success(let written):
        // A subscription that was saved for the first time has no earlier mark.
        let before = written.before?.byKey ?? [:]
        for key in changes.keys where before[key] == nil { changes[key]?.insert(.marked) }
        adopt(written.after)
      case .failure: changes.merge(attempted) { $0.union($1) }
      }
      if isUnsaved {
        if delayed == nil { write() }
      } else if case .failure = result {
        // Not tried again immediately, because the store may keep failing, but after the next change, after the saved
        // subscriptions are read, and at the end.
        isUnsaved = true
      }
    }
  }

  /// The saved subscriptions before and after a write.
  private struct Written: Sendable {
    let before: HubNote?
    let after: HubNote
  }

  /// Reads the saved subscriptions, unless a write does so first. While the store fails, tries again, and reports an
  /// error once.
  func resume(attempt: Int = 0, after last: FeedStoreError? = nil) {
    guard let store else { return }
    saver.perform {
      () throws(FeedStoreError) in
      try store.readNotes { try $0.note(.hub, as: HubNote.self) } ?? nil
    } completion: { [weak self] (result: Result<HubNote?, FeedStoreError>) in
      guard let self, !isOver, !isRead else { return }
      switch result {
      case .success(let note):
        adopt(note ?? HubNote(subscriptions: []))
        if isUnsaved, !isSaving { write() }
      case .failure(let error):
        if error != last { report(error) }
        var unused = SystemRandomNumberGenerator()
        reading = scheduler.once(after: HostVisits.policy.pause(before: attempt, using: &unused)) { [weak self] in
          self?.resume(attempt: attempt + 1, after: error)
        }
      }
    }
  }

  /// Continues with the saved subscriptions, which other hubs may have changed. What this hub hasn't saved yet counts
  /// more.
  private func adopt(_ note: HubNote) {
    let (saved, isFirst) = (note.byKey, !isRead)
    isRead = true
    reading.take()?.cancel()
    let unsaved = changes.merging(writing) { $0.union($1) }
    for key in subscriptions.keys.filter({ saved[$0] == nil && unsaved[$0] == nil }) { forget(key) }
    var hasNew = isFirst && !saved.isEmpty
    for (key, subscription) in saved {
      if let change = unsaved[key] {
        // A delivery of a later content may be due.
        if !change.contains(.marked), let mark = subscription.mark { subscriptions[key]?.mark = mark }
      } else {
        hasNew = hasNew || subscriptions[key] == nil
        subscriptions[key] = subscription
      }
    }
    forgetExpired()
    if hasNew { changed() }
  }

  // MARK: Ends of subscriptions

  func forgetExpired() {
    for key in subscriptions.values.filter(hasEnded).map(\.key) { remove(key) }
  }

  /// True after the end of the lease. A clock that was set forward is given an hour to be set back, as the removal of
  /// a subscription is final.
  func hasEnded(_ subscription: HubSubscription) -> Bool {
    if clock.jump() > 60 { spared = scheduler.now.advanced(by: .seconds(3600)) }
    if let spared, scheduler.now < spared { return false }
    return subscription.until <= now()
  }

  /// Ends a subscription, for all hubs that share the store.
  func remove(_ key: HubSubscription.Key) {
    forget(key)
    // If it is subscribed to again before the removal is saved, the saved version doesn't count.
    noteChange([.renewed, .marked], of: key)
  }

  func forget(_ key: HubSubscription.Key) {
    subscriptions[key] = nil
    deliveries[key] = nil
    abandoned[key] = nil
  }
}
