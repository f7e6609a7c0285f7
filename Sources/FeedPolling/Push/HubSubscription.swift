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

  var key: Key { Key(topic: topic, callback: callback) }
}

/// A hub's saved state: its subscriptions.
struct HubNote: StoredNote, Codable {
  var subscriptions: [HubSubscription]

  init(subscriptions: [HubSubscription]) { self.subscriptions = subscriptions }

  /// Adds the saved subscriptions. One that this note has, too, was renewed, but keeps its saved mark, because a
  /// delivery may be due.
  ///
  /// - Parameter superseded: the subscriptions that were removed or delivered since; their saved versions don't count.
  mutating func add(_ saved: HubNote, except superseded: Set<HubSubscription.Key>) {
    let places = Dictionary(subscriptions.indices.map { (subscriptions[$0].key, $0) }) { first, _ in first }
    for subscription in saved.subscriptions where !superseded.contains(subscription.key) {
      if let place = places[subscription.key] {
        subscriptions[place].mark = subscription.mark ?? subscriptions[place].mark
      } else {
        subscriptions.append(subscription)
      }
    }
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
