import FeedFleet
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// A gateway with the events that it keeps for clients, like `feed serve --store`.
final class FleetGateway {
  typealias Event = (id: String, update: FeedUpdate)

  /// The versions that its page shows.
  private(set) var shown: [URL: FeedVersion] = [:]
  private(set) var resets = 0
  /// False until it knows the events that clients of other gateways have received.
  private(set) var isBegun = false
  private(set) var isOver = false
  private var events: [Event] = []
  /// The index of the event after each id.
  private var places: [String: Int] = [:]
  /// The id that new clients get.
  private(set) var last = ""
  /// The id up to which it has read the log.
  private var place = ""
  private var clients: [ObjectIdentifier: GatewayClient] = [:]
  /// Clients that have received later events from another gateway.
  private var waiting: [ObjectIdentifier: GatewayClient] = [:]
  private var subscription: (any Subscription)?
  private let complain: (String) -> Void
  /// True for a gateway that acts like a suspended process: it neither reads nor sends.
  var isStopped = false {
    didSet {
      guard oldValue, !isStopped else { return }
      subscription?.request(.max(1))
      // Only now does the gateway notice the clients that connected meanwhile.
      for client in waiting.values { attend(client) }
    }
  }

  private let time: VirtualTimeScheduler

  init(_ follower: FleetFollower, on time: VirtualTimeScheduler, _ complain: @escaping (String) -> Void) {
    self.complain = complain
    self.time = time
    follower.subscribe(
      AnySubscriber(
        receiveSubscription: { [unowned self] in
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: { [unowned self] event in
          take(event)
          settle()
          return isStopped ? .none : .max(1)
        }, receiveCompletion: { _ in }))
  }

  func end() {
    isOver = true
    subscription.take()?.cancel()
    for client in [clients, waiting].flatMap(\.values) { client.isLost = true }
    (clients, waiting) = ([:], [:])
  }

  private func take(_ event: FleetFollower.Event) {
    switch event {
    case .snapshot(let snapshot):
      shown = [:]
      for (address, feed) in snapshot.feeds { shown[address] = feed?.version ?? FeedVersion(microseconds: 0) }
      let isShown = { [shown] (logged: LoggedUpdate) in shown[logged.update.address] != nil }
      place = "\(snapshot.cursor)"
      last = "\(snapshot.history.last(where: isShown)?.cursor ?? snapshot.cursor)"
      if isBegun {
        resets += 1
        (events, places) = ([], [last: 0])
        for client in clients.values { client.reset(by: self) }
      } else {
        isBegun = true
        places = snapshot.history.isEmpty ? [last: 0] : [:]
        for logged in snapshot.history {
          if isShown(logged) { events.append(("\(logged.cursor)", logged.update)) }
          places["\(logged.cursor)"] = events.count
        }
      }
    case .update(let feed, let logged):
      if let feed, let version = feed.version {
        if let before = shown[feed.address], version <= before { complain("\(feed.address) went back at a gateway") }
        shown[feed.address] = version
      }
      last = "\(logged.cursor)"
      place = last
      if places[last] != nil { complain("\(last) was announced twice") }
      events.append((last, logged.update))
      places[last] = events.count
      for client in clients.values { client.hear(events[events.count - 1]) }
    case .list(let list):
      for address in list.forgotten { shown[address] = nil }
      shown = shown.filter { list.addresses.contains($0.key) }
      for address in list.addresses where shown[address] == nil { shown[address] = FeedVersion(microseconds: 0) }
      for feed in list.added { shown[feed.address] = feed.version }
    case .passed(let cursor): place = "\(cursor)"
    case .away, .back: break
    }
  }

  // MARK: Clients

  func attach(_ client: GatewayClient) {
    waiting[ObjectIdentifier(client)] = client
    if !isStopped { attend(client) }
  }

  private func attend(_ client: GatewayClient) {
    settle()
    // The log may have been rolled back since then.
    _ = time.once(after: .seconds(5)) { [weak self, weak client] in
      if let self, let client, !isStopped { settle(client) }
    }
  }

  private func settle(_ late: GatewayClient? = nil) {
    guard isBegun else { return }
    for (name, client) in waiting where client === late || client.id.flatMap({ Int($0) }) ?? 0 <= Int(place) ?? 0 {
      waiting[name] = nil
      clients[name] = client
      client.begin(with: self)
    }
  }

  func detach(_ client: GatewayClient) {
    clients[ObjectIdentifier(client)] = nil
    waiting[ObjectIdentifier(client)] = nil
  }

  /// The events that a client must receive after an id; `nil` when the id is unknown.
  func events(after id: String) -> ArraySlice<Event>? { places[id].map { events[$0...] } }
}

/// A client of gateways, which continues at another one where it stopped.
final class GatewayClient {
  private(set) var versions: [URL: FeedVersion] = [:]
  private(set) var resets = 0
  /// True when its gateway is gone.
  var isLost = false
  private var announced: [URL: FeedVersion] = [:]
  private(set) var id: String?
  private weak var gateway: FleetGateway?
  private let complain: (String) -> Void

  init(_ gateway: FleetGateway, _ complain: @escaping (String) -> Void) {
    self.complain = complain
    connect(to: gateway)
  }

  func connect(to other: FleetGateway) {
    gateway?.detach(self)
    gateway = other
    isLost = false
    other.attach(self)
  }

  func begin(with gateway: FleetGateway) {
    guard let id else { return look(at: gateway) }
    guard let missed = gateway.events(after: id) else { return reset(by: gateway) }
    for event in missed { hear(event) }
  }

  func reset(by gateway: FleetGateway) {
    resets += 1
    look(at: gateway)
  }

  /// Loads the page.
  private func look(at gateway: FleetGateway) {
    (versions, announced, id) = (gateway.shown, [:], gateway.last)
  }

  func hear(_ event: FleetGateway.Event) {
    let (address, version) = (event.update.address, event.update.version)
    if let before = announced[address], version <= before {
      complain("\(address) went back, or came twice, at a client")
    }
    announced[address] = version
    versions[address] = max(version, versions[address] ?? version)
    id = event.id
  }
}
