public import Foundation

/// A subscription at a hub: while it is valid, the hub announces the feed's changes.
public struct PushLease: Hashable, Sendable {
  public var link: HubLink
  /// The last part of the callback's path: random, so that it can't be guessed.
  public var path: String
  /// The key of the hub's signatures.
  var secret: String
  /// The end of the lease; `nil` while the hub has not verified the subscription.
  public var until: Date?
  /// The time of the last announcement.
  public var announced: Date?
  /// The reason why there is no lease, worded to follow "because"; empty when there is nothing to report.
  public var trouble = ""

  init(link: HubLink, path: String, secret: String) {
    (self.link, self.path, self.secret) = (link, path, secret)
  }

  public func isValid(at now: Date) -> Bool { until.map { $0 > now } ?? false }
}
