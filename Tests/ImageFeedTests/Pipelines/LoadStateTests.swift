import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// One stream with everything that a user interface shows.
@Suite(.settled) struct LoadStateTests {
  /// A user interface, and a server of scripted replies.
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let store = InMemoryFeedStore()
    let button = PassthroughSubject<Void, Never>()
    var states: [LoadState<FeedImages>] = []
    var isFinished = false
    var subscription: AnyCancellable?

    init(saved: CachedFeed? = nil, _ replies: VirtualReply...) throws {
      network = VirtualNetwork(on: time)
      network.serve("example.com") { request, _ in replies[min(request.number, replies.count - 1)] }
      if let saved { try store.replace(for: address, with: saved) }
    }

    func show(refreshedBy refreshes: AnyPublisher<Void, Never>? = nil) {
      let cache = FeedCache(store: store, on: time, now: { noon })
      subscription = FeedLoader(address, client: network, cache: cache, on: time)
        .states(refreshedBy: refreshes ?? button.eraseToAnyPublisher())
        .sink { [unowned self] _ in
          isFinished = true
        } receiveValue: { [unowned self] in
          states.append($0)
        }
      time.run()
    }

    func refresh() {
      button.send(())
      time.run()
    }

    /// The states since the last call, in words.
    func words() -> [String] {
      defer { states = [] }
      return states.map { state in
        let count = state.shown.map { "\($0.images.count)" } ?? "none"
        return switch state {
        case .loading: "loading"
        case .showing: "showing \(count)"
        case .refreshing: "refreshing \(count)"
        case .failed(let error, _): "failed \(count): \(error.remote)"
        }
      }
    }
  }

  private let old = makeFeed(2)
  private let three = VirtualReply.answer(FeedPayload.bytes(of: makeFeed(3, from: 50).images))
  private let four = VirtualReply.answer(FeedPayload.bytes(of: makeFeed(4, from: 50).images))
  private let broken = VirtualReply.answer(status: 500, Data())
  private let failure = "\(RemoteFeedError.invalidData(.status(500)))"

  @Test func `states shows the saved feed while the server's is requested, then the server's`() throws {
    let place = try Place(saved: old, three, four)
    place.show()
    #expect(place.states.map(\.isLoading) == [true, true, false])
    #expect(place.words() == ["loading", "refreshing 2", "showing 3"])
    place.refresh()
    #expect(place.words() == ["refreshing 3", "showing 4"])
    place.button.send(completion: .finished)
    #expect(place.isFinished)
  }

  @Test func `a saved feed that is up to date is shown as the server's`() throws {
    let place = try Place(saved: old, .answer(FeedPayload.bytes(of: old.images)))
    place.show()
    #expect(place.states.last == .showing(Feed(images: old.images, source: .remote)))
    #expect(place.words() == ["loading", "refreshing 2", "showing 2"])
    place.subscription?.cancel()
  }

  @Test func `a failing load keeps the shown feed, and the next one may succeed`() throws {
    let place = try Place(saved: old, broken, broken, three)
    place.show()
    #expect(place.words() == ["loading", "refreshing 2", "failed 2: \(failure)"])
    place.refresh()
    #expect(place.words() == ["refreshing 2", "failed 2: \(failure)"])
    place.refresh()
    #expect(place.words() == ["refreshing 2", "showing 3"])
    place.subscription?.cancel()
  }

  @Test func `without any feed, the state has both reasons of the failure`() throws {
    let place = try Place(broken, three)
    place.show()
    #expect(place.states.last?.error == FeedError(remote: .invalidData(.status(500)), cache: .empty))
    #expect(place.words() == ["loading", "failed none: \(failure)"])
    place.refresh()
    #expect(place.words() == ["loading", "showing 3"])
    place.subscription?.cancel()
  }

  @Test func `a refresh during a load doesn't start another load`() throws {
    let place = try Place(three)
    place.show(refreshedBy: Just(()).eraseToAnyPublisher())
    #expect(place.words() == ["loading", "showing 3"])
    #expect(place.network.requests == 1)
    #expect(place.isFinished)
  }

  @Test func `cancelling closes the request, and no state follows`() throws {
    let place = try Place(three)
    let cache = FeedCache(store: place.store, on: place.time, now: { noon })
    let states = FeedLoader(address, client: place.network, cache: cache, on: place.time).states()
    var count = 0
    let subscription = states.sink { _ in count += 1 }
    place.time.advance(by: .milliseconds(40))
    #expect(place.network.open.count == 1)
    subscription.cancel()
    #expect(place.network.open.isEmpty)
    place.time.run()
    #expect(count == 1)
  }
}
