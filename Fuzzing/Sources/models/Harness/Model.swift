/// A model's reaction to an event.
enum Effect {
  /// Subscribes to a publisher of the case; the source's number is that of the subscription, from 0.
  case subscribe(Int)
  /// Hands a subscription to a subscriber.
  case handOut(Int = 0)
  case request(_ source: Int, Int)
  case stop(_ source: Int)
  /// Cancels every source.
  case stopAll
  case emit(Int, to: Int = 0)
  /// Completes a subscriber; if it is the only one, every source is cancelled first.
  case end(Ending, to: Int = 0)
  /// Calls `due` after some milliseconds.
  case wait(Int, token: Int)
  /// Calls `then` when this effect's turn comes.
  case then(_ token: Int, Int = 0, Int = 0)
}

/// The rule of an operator, from its documentation: each function changes the state and returns the effects, in order.
/// A function that a model does not override passes its event on.
class Model {
  /// The events that wait when they arrive within a delivery.
  enum Order {
    /// None: every event is handled within the delivery.
    case nested
    /// Values and completions.
    case upstreamWaits
    /// Requests, too.
    case allWaits
  }

  let parameters: Parameters
  /// The time, in milliseconds.
  var now = 0

  required init(_ parameters: Parameters) { self.parameters = parameters }

  var order: Order { .nested }
  /// True if the model decides what happens to the sources when a subscriber completes or cancels.
  var isShared: Bool { false }

  func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0)] }
  func began(_ source: Int) -> [Effect] { [.handOut()] }
  func requested(_ count: Int, _ probe: Int) -> [Effect] { [.request(0, count)] }
  /// Handles the demand that a subscriber returns for a value.
  func answered(_ count: Int, _ probe: Int) -> [Effect] { requested(count, probe) }
  func value(_ value: Int, _ source: Int) -> [Effect] { [.emit(value)] }
  func ended(_ ending: Ending, _ source: Int) -> [Effect] { [.end(ending)] }
  func cancelled(_ probe: Int) -> [Effect] { [] }
  func due(_ token: Int) -> [Effect] { [] }
  func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] { [] }
}
