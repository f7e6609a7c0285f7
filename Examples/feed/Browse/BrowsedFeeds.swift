import FeedStream
import Foundation
import ImageFeed

/// The feeds of `feed browse`, page by page: a page is requested on demand.
final class BrowsedFeeds {
  var post: (BrowseEvent) -> Void = { _ in }
  private let loaders: [FeedLoader]
  private let mode: ReadMode?
  private var readers: [URL: PageReader] = [:]

  /// - Parameter mode: the source of the feeds, each of which is one page; `nil` to load pages from the servers.
  init(_ loaders: [FeedLoader], _ mode: ReadMode?) {
    self.loaders = loaders
    self.mode = mode
  }

  /// Loads the first page of each feed.
  func load() {
    cancel()
    for loader in loaders {
      let reader = PageReader { [unowned self] event in
        switch event {
        case .page(let feed): post(.page(loader.url, feed))
        case .ended(.finished): post(.ended(loader.url))
        case .ended(.failure(let error)): post(.failed(loader.url, "\(error)"))
        }
      }
      readers[loader.url] = reader
      (mode.map { loader.load($0) } ?? loader.pages()).subscribe(reader)
      reader.more()
    }
  }

  func more(of address: URL) { readers[address]?.more() }

  func cancel() {
    for reader in readers.values { reader.cancel() }
    readers = [:]
  }
}

/// Takes one page at a time.
private final class PageReader: Subscriber {
  enum Event {
    case page(Feed)
    case ended(Subscribers.Completion<FeedError>)
  }

  private var take: ((Event) -> Void)?
  private var subscription: (any Subscription)?

  init(_ take: @escaping (Event) -> Void) { self.take = take }

  func receive(subscription: any Subscription) { self.subscription = subscription }

  func receive(_ input: Feed) -> Subscribers.Demand {
    take?(.page(input))
    return .none
  }

  func receive(completion: Subscribers.Completion<FeedError>) {
    subscription = nil
    take.take()?(.ended(completion))
  }

  func more() { subscription?.request(.max(1)) }

  func cancel() {
    take = nil
    let subscription = subscription
    self.subscription = nil
    subscription?.cancel()
  }
}
