/// The end of the part of a stream that lives in a different home from the part below it: above a queue, for example.
/// The stage below holds the bridge; the map reads each part in its home and joins the parts.
final class MapBridge: LiveSubscriber, CustomStringConvertible {
  let description: String
  // Weak: the stage holds its upstream, and releases it at the end.
  private weak var subscription: AnyObject?
  /// The number of values that wait in the part's home until they are due.
  let held: () -> Int

  /// Adds a bridge to the map; returns `nil` while the map is off.
  ///
  /// - Parameters:
  ///   - name: the name of the stage below.
  ///   - subscription: the subscription that the stage receives now, in the home of the part above.
  ///   - held: the number of values that wait there until they are due. Must not retain the stage.
  static func make(
    _ name: @autoclosure () -> String, _ subscription: any Subscription, held: @escaping () -> Int = { 0 }
  ) -> MapBridge? {
    guard LiveMap.isOn else { return nil }
    let bridge = MapBridge(name(), subscription as AnyObject, held)
    LiveMap.here().add(bridge, nil, nil)
    return bridge
  }

  private init(_ name: String, _ subscription: AnyObject, _ held: @escaping () -> Int) {
    description = name
    self.held = held
    self.subscription = subscription
  }

  var isLive: Bool { subscription != nil }
  var lane: (any StreamLane)? { nil }
  var upstream: AnyObject? { subscription }
}
