public import FeedStream
public import Foundation

/// The feeds that an engine keeps: the port between gateways and an engine.
///
/// Lives on one thread, as streams do.
public protocol FeedLibrary: AnyObject {
  /// What is saved of feeds, in their order; `nil` for those that nothing is known of.
  ///
  /// **Demand:** asked at the subscription. **Failure:** ``FleetError``. **Cancellation:** what comes is dropped.
  func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError>

  /// The addresses of all feeds, a page at a time.
  ///
  /// A feed that is added meanwhile may be left out; one that is there all the time is not.
  ///
  /// **Demand:** asks for a page when one is wanted. **Failure:** ``FleetError``. **Cancellation:** ends it.
  func addresses() -> AnyPublisher<[URL], FleetError>
}
