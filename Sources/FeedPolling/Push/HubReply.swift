/// The response to a request from a hub, or from a hub's subscriber.
public struct HubReply: Hashable, Sendable {
  public var status: Int
  /// The body, as plain text.
  public var text: String

  init(_ status: Int, _ text: String = "") { (self.status, self.text) = (status, text) }
}
