import FeedStream
import Foundation

@testable import FeedHTTP

/// Opens a response and reads its body.
final class StreamProbe {
  var demand = Subscribers.Demand.unlimited
  /// True to count bytes without keeping them.
  var countsOnly = false
  var onChunk: (() -> Void)?
  /// The loop on which the next chunk is requested in a later turn; `nil` to request it with the previous one.
  var asksLater: EventLoop?
  private(set) var response: StreamingResponse?
  private(set) var chunks: [Chunk] = []
  private(set) var count = 0
  private(set) var completion: Subscribers.Completion<HTTPError>?
  private var opening: AnyCancellable?
  private var body: (any Subscription)?

  init() {}

  init(_ publisher: AnyPublisher<StreamingResponse, HTTPError>) { begin(publisher) }

  var bytes: Data { chunks.reduce(into: Data()) { $0.append(contentsOf: $1) } }
  var failure: HTTPError? { if case .failure(let error) = completion { error } else { nil } }

  func begin(_ publisher: AnyPublisher<StreamingResponse, HTTPError>) {
    opening = publisher.sink { [unowned self] in
      if case .failure = $0 { end($0) }
    } receiveValue: { [unowned self] in
      read($0)
    }
  }

  func ask() { if demand > .none { body?.request(demand) } }

  func cancel() {
    body.take()?.cancel()
    onChunk = nil
  }

  private func read(_ response: StreamingResponse) {
    self.response = response
    response.body.subscribe(
      AnySubscriber(
        receiveSubscription: { [unowned self] in
          body = $0
          ask()
        },
        receiveValue: { [unowned self] in
          count += $0.count
          if !countsOnly { chunks.append($0) }
          onChunk?()
          if let asksLater {
            asksLater.schedule { [weak self] in self?.ask() }
            return .none
          }
          return demand == .max(1) && body != nil ? .max(1) : .none
        },
        receiveCompletion: { [unowned self] in end($0) }))
  }

  private func end(_ completion: Subscribers.Completion<HTTPError>) {
    self.completion = completion
    body = nil
    onChunk = nil
  }
}

// A failed expectation prints its values, and reflection would visit the whole client.
extension StreamProbe: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
