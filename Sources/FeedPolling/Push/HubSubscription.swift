import Foundation
import ImageFeed

/// A subscription to a feed at this program's hub.
struct HubSubscription: Hashable, Codable, Sendable {
  /// Identifies a subscription: there is one per callback and topic (W3C WebSub, section 5.1).
  struct Key: Hashable, Sendable {
    let topic: URL
    let callback: URL
  }

  var topic: URL
  var callback: URL
  /// The key of the signatures; `nil` for a subscriber that didn't request signatures.
  var secret: String?
  /// The end of the lease.
  var until: Date
  /// The mark of the content that was delivered last, or that the feed had when the subscription began; empty if it had
  /// none, and `nil` in the notes of older versions.
  var mark: String?
  /// The time when the subscription was confirmed last; `nil` in the notes of older versions.
  var confirmed: Date?

  var key: Key { Key(topic: topic, callback: callback) }
}

/// A hub's change of one subscription.
struct HubChange: Equatable, Sendable {
  /// The subscription after the change; `nil` if it was removed.
  var subscription: HubSubscription?
  /// The time when the subscription, or its removal, was confirmed; `nil` if only the mark has changed.
  var confirmed: Date?
  /// True if the saved mark doesn't count.
  var isDelivered = false

  /// The saved subscription after this change. If another hub has changed it, too, the later confirmation counts.
  func applied(to saved: HubSubscription?) -> HubSubscription? {
    guard let saved else { return confirmed == nil ? nil : subscription }
    let isLater = confirmed.map { $0 >= saved.confirmed ?? .distantPast } ?? false
    guard let subscription else { return isLater ? nil : saved }
    var result = isLater ? subscription : saved
    // The delivery of a content that is later than the saved one may be due.
    let keepsMark = !isDelivered && saved.mark?.isEmpty == false
    result.mark = keepsMark ? saved.mark : subscription.mark
    return result
  }
}

/// The saved subscriptions, which several hubs may share.
struct HubNote: StoredNote, Codable {
  var subscriptions: [HubSubscription]

  init(subscriptions: [HubSubscription]) { self.subscriptions = subscriptions }

  /// The saved subscriptions after one hub's changes, without those that have ended.
  init(
    _ saved: [HubSubscription.Key: HubSubscription], with changes: [HubSubscription.Key: HubChange], at date: Date
  ) {
    var merged = saved.filter { $0.value.until > date }
    for (key, change) in changes { merged[key] = change.applied(to: merged[key]) }
    subscriptions = merged.values.filter { $0.until > date }
  }

  var byKey: [HubSubscription.Key: HubSubscription] {
    Dictionary(subscriptions.map { ($0.key, $0) }) { first, _ in first }
  }

  init?(_ fields: NoteFields.Reader) {
    guard let bytes = fields.bytes(1), let note = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
      return nil
    }
    self = note
  }

  func put(in fields: inout NoteFields.Writer) {
    // Encoding these values can't fail.
    if let bytes = try? JSONEncoder().encode(self) { fields.put(1, [UInt8](bytes)) }
  }
}

extension NoteKey {
  /// The only note of its kind.
  static var hub: NoteKey { NoteKey(.other(9), "hub") }
}
