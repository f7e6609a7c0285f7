import FeedHTTP
import FeedStream
import Foundation

/// The hub's requests to its subscribers.
extension FeedHub {
  /// A request to a URL that a stranger has chosen.
  private func request(_ url: URL, method: HTTPMethod = .get, maxBodyBytes: Int) -> HTTPRequest {
    var request = HTTPRequest(url, timeout: options.timeout, maxBodyBytes: maxBodyBytes)
    request.method = method
    request.followsRedirects = false
    (request.origin, request.originIsPrivate) = (self.url, false)
    return request
  }

  // MARK: Verification (section 5.3)

  func verify(_ verification: Verification) {
    let (key, challenge) = (verification.subscription.key, HubSubscriber.random(16))
    var fields = [
      URLQueryItem(name: "hub.mode", value: verification.mode),
      URLQueryItem(name: "hub.topic", value: key.topic.absoluteString),
      URLQueryItem(name: "hub.challenge", value: challenge),
    ]
    if verification.mode == "subscribe" {
      fields.append(URLQueryItem(name: "hub.lease_seconds", value: "\(Int(verification.lease.seconds))"))
    }
    // The callback's own query is kept.
    guard var parts = URLComponents(url: key.callback, resolvingAgainstBaseURL: false) else { return }
    var encoded = URLComponents()
    encoded.queryItems = fields
    let query = (encoded.percentEncodedQuery ?? "").replacingOccurrences(of: "+", with: "%2B")
    parts.percentEncodedQuery = parts.percentEncodedQuery.map { $0.isEmpty ? query : "\($0)&\(query)" } ?? query
    guard let url = parts.url else { return }
    let response = client.get(request(url, maxBodyBytes: 2048))
      .map { (200...299).contains($0.status) && $0.body.elementsEqual(challenge.utf8) }
      .replaceError(with: false)
    verifying.append(verification)
    run(response) { [weak self] isConfirmed in
      guard let self else { return }
      verifying.removeAll { $0.subscription.key == key }
      guard isConfirmed == true else { return }
      if verification.mode == "unsubscribe" {
        remove(key)
      } else {
        var subscription = verification.subscription
        subscription.until = now() + verification.lease.seconds
        subscription.confirmed = confirmation(of: key)
        // Without content so far, the first content is a change.
        let mark = subscriptions[key]?.mark
        abandoned[key] = nil
        subscription.mark = mark ?? ""
        subscriptions[key] = subscription
        noteChange(of: key, confirmed: subscription.confirmed)
        if mark == nil { begin(key) }
      }
      save()
    }
  }

  /// Records the content that later changes are compared with.
  private func begin(_ key: HubSubscription.Key) {
    read(key.topic) { [weak self] content in
      guard let self, subscriptions[key]?.mark == "", deliveries[key] == nil else { return }
      subscriptions[key]?.mark = content.mark
      noteChange(of: key)
      save()
    }
  }

  private func read(_ topic: URL, _ done: @escaping (Content) -> Void) {
    var isOver = false
    let own = nextNumber()
    let reading = content(topic).first().sink { [weak self] _ in
      isOver = true
      self?.contents[own] = nil
    } receiveValue: {
      done($0)
    }
    if !isOver { contents[own] = reading }
  }

  // MARK: Distribution (section 7)

  func compare(_ topic: URL) {
    forgetExpired()
    read(topic) { [weak self] content in
      guard let self else { return }
      for (key, subscription) in subscriptions where key.topic == topic {
        if subscription.mark == nil {
          subscriptions[key]?.mark = content.mark
          noteChange(of: key)
          save()
        } else if let delivery = deliveries[key], delivery.due == nil {
          if delivery.mark != content.mark { deliveries[key]?.isOutdated = true }
          deliveries[key]?.mark = content.mark
        } else if subscription.mark == content.mark || abandoned[key] == content.mark {
          deliveries[key] = nil
        } else if deliveries[key]?.mark != content.mark {
          deliveries[key] = Delivery(mark: content.mark, due: scheduler.now)
        }
      }
      pump()
    }
  }

  func deliver(_ key: HubSubscription.Key) {
    guard let subscription = subscriptions[key], subscription.until > leaseClock() else { return forget(key) }
    deliveries[key]?.due = nil
    // Sends the latest content, even if an earlier version could not be delivered.
    let response = content(key.topic).first()
      .flatMap { [weak self] content -> AnyPublisher<(status: Int, mark: String), Never> in
        guard let self else { return Empty().eraseToAnyPublisher() }
        deliveries[key]?.mark = content.mark
        deliveries[key]?.isOutdated = false
        var request = request(key.callback, method: .post, maxBodyBytes: 64 * 1024)
        request.body = .bytes(content.body)
        request.headers = [
          .init(name: "Content-Type", value: content.type),
          .init(
            name: "Link", value: "<\(url.absoluteString)>; rel=\"hub\", <\(key.topic.absoluteString)>; rel=\"self\""),
        ]
        if let secret = subscription.secret {
          let code = HubSignature.code(.sha256, of: content.body, secret: secret)
          request.headers.append(.init(name: "X-Hub-Signature", value: "sha256=\(code.hexDigits)"))
        }
        return client.get(request).map(\.status).replaceError(with: 0).map { ($0, content.mark) }.eraseToAnyPublisher()
      }
    run(response) { [weak self] in self?.delivered(key, $0?.status ?? 0, $0?.mark) }
  }

  private func delivered(_ key: HubSubscription.Key, _ status: Int, _ mark: String?) {
    guard var delivery = deliveries[key] else { return }
    switch status {
    case 200...299:
      // Saved only now, so that a delivery that a restart interrupts is repeated.
      subscriptions[key]?.mark = mark
      noteChange(of: key, isDelivered: true)
      abandoned[key] = nil
      saveSoon()
      deliveries[key] = delivery.isOutdated ? Delivery(mark: delivery.mark, due: scheduler.now) : nil
    case 410:
      remove(key)
      save()
    default:
      var generator = SystemRandomNumberGenerator()
      guard delivery.attempt < options.retries.limit ?? .max else {
        // The change that came during the last attempt has attempts of its own.
        if !delivery.isOutdated, let mark { abandoned[key] = mark }
        deliveries[key] = delivery.isOutdated ? Delivery(mark: delivery.mark, due: scheduler.now) : nil
        return
      }
      let pause = options.retries.pause(before: delivery.attempt, using: &generator)
      delivery.attempt += 1
      delivery.isOutdated = false
      delivery.due = scheduler.now.advanced(by: StreamInstant.Stride(pause))
      deliveries[key] = delivery
    }
  }
}
