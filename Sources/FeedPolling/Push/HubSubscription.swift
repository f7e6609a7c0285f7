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

/// The parts of a subscription that a hub has changed since it last saved.
struct HubChange: OptionSet, Sendable {
  let rawValue: Int

  /// The lease and the secret; only such a change adds a subscription that isn't saved.
  static let renewed = HubChange(rawValue: 1)
  /// The mark.
  static let marked = HubChange(rawValue: 2)
}

/// The saved subscriptions, which several hubs may share.
struct HubNote: StoredNote, Codable {
  var subscriptions: [HubSubscription]

  init(subscriptions: [HubSubscription]) { self.subscriptions = subscriptions }

  var byKey: [HubSubscription.Key: HubSubscription] {
    Dictionary(subscriptions.map { ($0.key, $0) }) { first, _ in first }
  }

  /// The saved subscriptions after the changes of one hub; those of other hubs are kept. If nothing is saved, all of the
  /// hub's subscriptions are.
  ///
  /// - Parameters:
  ///   - changes: the hub's changes. A subscription that isn't in `known` was removed.
  ///   - known: the hub's subscriptions.
  init(
    _ saved: HubNote?, with changes: [HubSubscription.Key: HubChange],
    of known: [HubSubscription.Key: HubSubscription]
  ) {
    var merged = saved?.byKey ?? known
    for (key, change) in changes {
      guard var own = known[key] else {
        merged[key] = nil
        continue
      }
      if let old = merged[key] {
        // A delivery of a later content may be due.
        if !change.contains(.marked) { own.mark = old.mark ?? own.mark }
        if !change.contains(.renewed) { (own.until, own.secret) = (old.until, old.secret) }
        merged[key] = own
      } else if change.contains(.renewed) {
        merged[key] = own
      }
    }
    subscriptions = Array(merged.values)
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
