public import FeedStream
public import Foundation
import ImageFeed

/// The feeds that an engine stores: the port between gateways and an engine.
///
/// Like a stream, it must be used on one thread.
public protocol FeedLibrary: AnyObject {
  /// The saved feeds, in the order of `addresses`; `nil` for those that aren't in the library.
  ///
  /// **Demand:** requested on subscription. **Failure:** ``FleetError``. **Cancellation:** a later reply is dropped.
  func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError>

  /// The URLs of all feeds, delivered a page at a time.
  ///
  /// A feed that is added during the listing may be left out; a feed that exists throughout is not.
  ///
  /// **Demand:** reads a page when there is demand. **Failure:** ``FleetError``. **Cancellation:** ends the listing.
  func addresses() -> AnyPublisher<[URL], FleetError>

  /// The first feeds, in an order that is the same for every reader: by host, and by URL within each host.
  ///
  /// **Demand:** requested on subscription. **Failure:** ``FleetError``. **Cancellation:** a later reply is dropped.
  func first(_ count: Int) -> AnyPublisher<[URL], FleetError>

  /// The version of the list, which changes with each addition, removal, and move to another host.
  func edition() -> AnyPublisher<String, FleetError>
}

extension FeedLibrary {
  public func first(_ count: Int) -> AnyPublisher<[URL], FleetError> {
    addresses().reduce([]) { $0 + $1 }
      .map { all in
        let sorted = all.map { ($0.pollingHost, $0.absoluteString, $0) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        return sorted.prefix(count).map(\.2)
      }
      .eraseToAnyPublisher()
  }
}
