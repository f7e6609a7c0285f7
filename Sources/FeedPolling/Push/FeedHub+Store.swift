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
        if !isRead, let saved = try notes.note(.hub, as: HubNote.self) { note.add(saved, except: superseded) }
        try notes.set(note, at: .hub, isKept: false)
      }
    } completion: { [weak self, options] (result: Result<Void, FeedStoreError>) in
      if case .failure(let error) = result { options.report(error) }
      guard let self else { return }
      isSaving = false
      if isUnsaved {
        write()
      } else if case .failure = result {
        // Not tried again immediately, because the store may keep failing, but after the next change, after the saved
        // subscriptions are read, and at the end.
        isUnsaved = true
      }
    }
  }

  /// Reads the saved subscriptions. While the store fails, tries again, and reports an error once.
  func resume(attempt: Int = 0, after last: FeedStoreError? = nil) {
    guard let store else { return }
    saver.perform {
      () throws(FeedStoreError) in
      try store.readNotes { try $0.note(.hub, as: HubNote.self) } ?? nil
    } completion: { [weak self] (result: Result<HubNote?, FeedStoreError>) in
      guard let self, !isOver else { return }
      switch result {
      case .success(let note):
        isRead = true
        if let note { merge(note) }
        superseded = []
        if isUnsaved, !isSaving { write() }
      case .failure(let error):
        if error != last { options.report(error) }
        var unused = SystemRandomNumberGenerator()
        reading = scheduler.once(after: HostVisits.policy.pause(before: attempt, using: &unused)) { [weak self] in
          self?.resume(attempt: attempt + 1, after: error)
        }
      }
    }
  }

  private func merge(_ saved: HubNote) {
    var note = HubNote(subscriptions: Array(subscriptions.values))
    note.add(saved, except: superseded)
    for subscription in note.subscriptions { subscriptions[subscription.key] = subscription }
    forgetExpired()
    changed()
  }
}
