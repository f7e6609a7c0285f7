import FeedStream
import Foundation

/// Requests to subscribe and to unsubscribe, and their limits.
extension FeedHub {
  /// Accepts a request to subscribe or to unsubscribe (section 5.1), and responds immediately; the verification
  /// follows.
  ///
  /// - Parameter field: returns the value of a form field.
  public func take(_ field: (String) -> String?) -> HubReply {
    guard let mode = field("hub.mode"), ["subscribe", "unsubscribe"].contains(mode) else {
      return HubReply(400, "hub.mode must be subscribe or unsubscribe.\n")
    }
    guard let callback = Self.web(field("hub.callback")) else {
      return HubReply(
        400, "hub.callback must be an http or https URL of at most 2000 bytes, without a user name or a fragment.\n")
    }
    guard let topic = Self.web(field("hub.topic")), isTopic(topic) else {
      return HubReply(404, "hub.topic isn't the URL of a feed on this server.\n")
    }
    let secret = field("hub.secret").flatMap { $0.isEmpty ? nil : $0 }
    guard secret?.utf8.count ?? 0 < 200 else { return HubReply(400, "hub.secret must be shorter than 200 bytes.\n") }
    let lease = field("hub.lease_seconds").flatMap { Int($0) }.map { Duration.seconds(min(max($0, 0), 1 << 40)) }
    let subscription = HubSubscription(topic: topic, callback: callback, secret: secret, until: .distantPast)
    if mode == "subscribe" {
      forgetExpired()
      guard hasRoom(for: subscription.key) else {
        return HubReply(503, "This hub has no room for another subscription from this host. Try again later.\n")
      }
    }
    let granted = min(max(lease ?? options.usualLease, options.leases.lowerBound), options.leases.upperBound)
    let verification = Verification(subscription: subscription, mode: mode, lease: granted)
    let isWaiting = verifications.contains { $0.subscription.key == subscription.key && $0.mode == mode }
    guard isWaiting || hasRoom(for: verification) else {
      return HubReply(503, "Too many requests are waiting for verification. Try again later.\n")
    }
    verifications.removeAll { $0.subscription.key == subscription.key }
    verifications.append(verification)
    // The subscriber might refuse a verification that comes before the response.
    scheduler.schedule { [weak self] in self?.pump() }
    return HubReply(202)
  }

  /// True if the limits allow this subscription. A subscription that waits for its verification counts, too, and so
  /// does an ended one until that is saved.
  private func hasRoom(for key: HubSubscription.Key) -> Bool {
    let waiting = (verifications + verifying).filter { $0.mode == "subscribe" }.map(\.subscription.key)
    let known = Set(subscriptions.keys).union(waiting).union(changes.keys)
    if known.contains(key) { return true }
    let ofHost = known.count { $0.callback.hostForLimits == key.callback.hostForLimits }
    return known.count < options.mostSubscriptions && ofHost < options.mostPerHost
  }

  /// True if another verification may wait. A host that doesn't respond leaves room for the others.
  private func hasRoom(for verification: Verification) -> Bool {
    verifications.count < Self.mostWaiting
      && verifications.count { $0.host == verification.host } < Self.mostWaitingPerHost
  }

  private static let (mostWaiting, mostWaitingPerHost) = (100, 10)

  private static func web(_ text: String?) -> URL? {
    guard let text, text.utf8.count <= 2000, let url = URL(string: text), let host = url.host(), !host.isEmpty,
      ["http", "https"].contains(url.scheme?.lowercased() ?? ""), url.user == nil, url.fragment() == nil
    else { return nil }
    return url
  }
}

extension URL {
  /// The host, in one spelling.
  var hostForLimits: String {
    let host = (host(percentEncoded: false) ?? "").lowercased()
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }
}
