import FeedStream
import ImageFeed

extension FeedHub {
  /// Saves the subscriptions; changes made while the store is busy are saved together.
  func save() {
    isUnsaved = true
    if !isSaving { write() }
  }

  func write() {
    guard let store else { return }
    (isSaving, isUnsaved) = (true, false)
    let (known, isRead, superseded) = (HubNote(subscriptions: Array(subscriptions.values)), isRead, superseded)
    saver.perform {
      () throws(FeedStoreError) in
      try store.changeNotes(replacing: false) { notes in
        var note = known
        // Subscriptions that haven't been read yet are kept.
        let saved = isRead ? nil : try notes.note(.hub, as: HubNote.self)
        if let saved { note.add(saved, except: superseded) }
        try notes.set(note, at: .hub, isKept: false)
        return saved
      }
    } completion: { [weak self, report] (result: Result<HubNote?, FeedStoreError>) in
      if case .failure(let error) = result { report(error) }
      // After the end, the write that `cancel()` began saves everything.
      guard let self, !isOver else { return }
      isSaving = false
      if case .success(let saved) = result { didRead(saved) }
      if isUnsaved {
        write()
      } else if case .failure = result {
        // Not tried again immediately, because the store may keep failing, but after the next change, after the saved
        // subscriptions are read, and at the end.
        isUnsaved = true
      }
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
        didRead(note)
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

  /// Adds the saved subscriptions, as they were before this hub first wrote.
  private func didRead(_ saved: HubNote?) {
    guard !isRead else { return }
    isRead = true
    reading.take()?.cancel()
    if let saved { merge(saved) }
    superseded = []
  }

  /// The saved version of a subscription, if it hasn't been read yet, doesn't count from this point on.
  func supersede(_ key: HubSubscription.Key) {
    if store != nil, !isRead, superseded.count < options.mostSubscriptions { superseded.insert(key) }
  }

  private func merge(_ saved: HubNote) {
    var note = HubNote(subscriptions: Array(subscriptions.values))
    note.add(saved, except: superseded)
    for subscription in note.subscriptions { subscriptions[subscription.key] = subscription }
    forgetExpired()
    changed()
  }
}
