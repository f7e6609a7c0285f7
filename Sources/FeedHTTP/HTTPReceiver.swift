import FeedStream

/// A subscriber of answers, its type erased.
struct HTTPReceiver {
  let value: (HTTPResponse) -> Void
  let completion: (Subscribers.Completion<HTTPError>) -> Void
}

extension HTTPReceiver {
  init<S: Subscriber>(_ subscriber: S) where S.Input == HTTPResponse, S.Failure == HTTPError {
    value = { _ = subscriber.receive($0) }
    completion = { subscriber.receive(completion: $0) }
  }
}
