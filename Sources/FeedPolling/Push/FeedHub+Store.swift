import FeedStream
import Foundation
import ImageFeed

extension FeedHub {
  /// Saves the changes; those that are made while the store is busy are saved together.
  func save() {
    delayed.take()?.cancel()
    if !isSaving { write() }
  }

  /// Saves the changes after a while, together with those of other deliveries.
  func saveSoon() {
    guard store != nil, delayed == nil else { return }
    delayed = scheduler.once(after: options.quiet) { [weak self] in
      self?.delayed = nil
      self?.save()
    }
  }

  /// Writes the changes into the saved subscriptions. After a failure, they are written again after the next change,
  /// after the saved subscriptions are read, and at the end; not immediately, because the store may keep failing.
  func write() {
    guard let store, !changes.isEmpty else { return }
    isSaving = true
    let (attempted, known, date) = (changes, subscriptions, leaseClock())
    saver.perform {
      () throws(FeedStoreError) in
      try store.changeNotes(replacing: false) { notes in
        // If nothing is saved, the file may have been replaced.
        let saved = try notes.note(.hub, as: HubNote.self)?.byKey ?? known
        let note = HubNote(saved, with: attempted, at: date)
        try notes.set(note, at: .hub, isKept: false)
        return note
      }
    } completion: { [weak self, report] (result: Result<HubNote, FeedStoreError>) in
      if case .failure(let error) = result { report(error) }
      // After the end, the write that `cancel()` began saves everything.
      guard let self, !isOver else { return }
      isSaving = false
      let hasMore = changes != attempted
      if case .success(let note) = result {
        for (key, change) in attempted {
          if changes[key] == change {
            changes[key] = nil
          } else if changes[key]?.confirmed == change.confirmed {
            changes[key]?.confirmed = nil
          }
        }
        didRead(note)
      }
      if hasMore, delayed == nil { write() }
    }
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
        didRead(note ?? HubNote(subscriptions: []))
        save()
      case .failure(let error):
        if error != last { report(error) }
        var unused = SystemRandomNumberGenerator()
        reading = scheduler.once(after: HostVisits.policy.pause(before: attempt, using: &unused)) { [weak self] in
          self?.resume(attempt: attempt + 1, after: error)
        }
      }
    }
  }

  /// Continues with the saved subscriptions to this server's feeds. Later changes by other hubs aren't read.
  private func didRead(_ note: HubNote) {
    guard !isRead else { return }
    isRead = true
    reading.take()?.cancel()
    for (key, saved) in note.byKey where isTopic(key.topic) {
      subscriptions[key] = if let change = changes[key] { change.applied(to: saved) } else { saved }
    }
    forgetExpired()
    changed()
  }

  // MARK: Changes

  /// Notes that the next write saves a subscription.
  ///
  /// - Parameters:
  ///   - confirmed: the time when the subscription, or its removal, was confirmed; `nil` if only the mark has changed.
  ///   - isDelivered: true if the saved mark doesn't count.
  func noteChange(of key: HubSubscription.Key, confirmed: Date? = nil, isDelivered: Bool = false) {
    guard store != nil else { return }
    var change = changes[key] ?? HubChange()
    change.subscription = subscriptions[key]
    change.confirmed = confirmed ?? change.confirmed
    change.isDelivered = isDelivered || change.isDelivered
    changes[key] = change
  }

  /// The time of a confirmation: later than the one before, even if the clock was set back.
  func confirmation(of key: HubSubscription.Key) -> Date {
    let last = changes[key]?.confirmed ?? subscriptions[key]?.confirmed ?? .distantPast
    return max(now(), last + 0.001)
  }

  /// Ends a subscription, which may be another hub's. Strangers may confirm to unsubscribe anything, so the number of
  /// noted removals of unknown subscriptions is limited.
  func remove(_ key: HubSubscription.Key) {
    let (isKnown, date) = (subscriptions[key] != nil, confirmation(of: key))
    forget(key)
    guard isKnown || changes[key] != nil || changes.count < options.mostSubscriptions else { return }
    // If it is subscribed to again before the removal is saved, the saved mark doesn't count.
    noteChange(of: key, confirmed: date, isDelivered: true)
  }

  // MARK: Ends of leases

  func forgetExpired() {
    let date = leaseClock()
    for key in subscriptions.values.filter({ $0.until <= date }).map(\.key) { forget(key) }
  }

  /// The time at which leases end. A clock that was set forward is given an hour to be set back, as the end of a lease
  /// is final. The hour isn't given again within another hour, because the clock also jumps when the machine sleeps.
  func leaseClock() -> Date {
    let present = scheduler.now
    let passed = jump.map { $0.distance(to: present).seconds } ?? .infinity
    if clock.jump() > 60, passed > 7200 {
      jump = present
      return .distantPast
    }
    return passed < 3600 ? .distantPast : now()
  }

  func forget(_ key: HubSubscription.Key) {
    subscriptions[key] = nil
    deliveries[key] = nil
    abandoned[key] = nil
  }
}
