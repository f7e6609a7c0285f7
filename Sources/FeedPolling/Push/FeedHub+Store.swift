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
    let note = HubNote(subscriptions: Array(subscriptions.values))
    saver.perform {
      () throws(FeedStoreError) in
      try store.changeNotes(replacing: false) { try $0.set(note, at: .hub, isKept: false) }
    } completion: { [weak self, options] (result: Result<Void, FeedStoreError>) in
      if case .failure(let error) = result { options.report(error) }
      self?.isSaving = false
      if self?.isUnsaved == true { self?.write() }
    }
  }

  func resume() {
    guard let store else { return }
    saver.perform {
      () throws(FeedStoreError) in
      try store.readNotes { try $0.note(.hub, as: HubNote.self) } ?? nil
    } completion: { [weak self] (result: Result<HubNote?, FeedStoreError>) in
      guard let self else { return }
      switch result {
      case .success(let note):
        guard let note else { return }
        for subscription in note.subscriptions where subscriptions[subscription.key] == nil {
          subscriptions[subscription.key] = subscription
        }
        forgetExpired()
        changed()
      case .failure(let error): options.report(error)
      }
    }
  }
}
