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
    let (known, isRead) = (HubNote(subscriptions: Array(subscriptions.values)), isRead)
    saver.perform {
      () throws(FeedStoreError) in
      try store.changeNotes(replacing: false) { notes in
        var note = known
        // Subscriptions that haven't been read yet are kept.
        if !isRead, let saved = try notes.note(.hub, as: HubNote.self) { note.add(saved) }
        try notes.set(note, at: .hub, isKept: false)
      }
    } completion: { [weak self, options] (result: Result<Void, FeedStoreError>) in
      if case .failure(let error) = result { options.report(error) }
      self?.isSaving = false
      if self?.isUnsaved == true { self?.write() }
    }
  }

  /// Reads the saved subscriptions. While the store fails, tries again.
  func resume(attempt: Int = 0) {
    guard let store else { return }
    saver.perform {
      () throws(FeedStoreError) in
      try store.readNotes { try $0.note(.hub, as: HubNote.self) } ?? nil
    } completion: { [weak self] (result: Result<HubNote?, FeedStoreError>) in
      guard let self, !isOver else { return }
      switch result {
      case .success(let note):
        isRead = true
        guard let note else { return }
        for subscription in note.subscriptions where subscriptions[subscription.key] == nil {
          subscriptions[subscription.key] = subscription
        }
        forgetExpired()
        changed()
      case .failure(let error):
        options.report(error)
        var unused = SystemRandomNumberGenerator()
        reading = scheduler.once(after: HostVisits.policy.pause(before: attempt, using: &unused)) { [weak self] in
          self?.resume(attempt: attempt + 1)
        }
      }
    }
  }
}
