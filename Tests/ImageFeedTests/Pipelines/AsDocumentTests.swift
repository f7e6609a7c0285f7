import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

/// The operators of the chain, each alone, and with values that aren't feeds.
@Suite(.settled) struct AsDocumentTests {
  private func document(_ status: Int) -> Outcome<WebDocument, RemoteFeedError> {
    let response = HTTPResponse(
      status: status, headers: [("Content-Type", "a/b"), ("ETag", "W/\"1\""), ("Last-Modified", "then")],
      body: Data("body".utf8), url: otherAddress)
    return outcome(of: Just(response).setFailureType(to: HTTPError.self).asDocument())
  }

  private func outcome<P: Publisher>(of publisher: P) -> Outcome<P.Output, P.Failure> {
    Outcome(of: publisher) {}
  }

  private static let validators = FeedValidators(etag: "W/\"1\"", lastModified: "then")
  private static let wholeAsked = FeedValidators(etag: "W/\"1\"", lastModified: "then", wholeAsked: noon)

  @Test func `status 200 becomes a document with its media type and validators`() {
    #expect(
      document(200).values == [
        WebDocument(body: Data("body".utf8), type: "a/b", url: otherAddress, validators: Self.validators)
      ])
  }

  @Test(arguments: [100, 199, 201, 204, 206, 301, 400, 404, 500, 503, 999])
  func `any other status is invalid, whatever the body`(status: Int) {
    #expect(document(status).failure == .invalidData(.status(status)))
  }

  @Test func `status 304 means unchanged`() {
    #expect(document(304).failure == .unchanged(Self.validators))
  }

  @Test func `a failed request is a connectivity error`() {
    let error = HTTPError(.connect, host: "example.com")
    let failed = Fail<HTTPResponse, HTTPError>(error: error).asDocument()
    #expect(outcome(of: failed).failure == .connectivity(error))
  }

  // MARK: Values of any kind

  /// A local copy that keeps one text.
  private final class Drawer: LocalCopy {
    let now: @Sendable () -> Date = { noon }
    var saved: Saved<String>?
    var failure: FeedStoreError?

    func saving(_ value: Saved<String>) -> AnyPublisher<String, FeedStoreError> {
      if let failure { return Fail(error: failure).eraseToAnyPublisher() }
      saved = value
      return Empty().eraseToAnyPublisher()
    }

    func retrieve() -> AnyPublisher<Saved<String>, FeedStoreError> {
      saved.map { Just($0).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher() }
        ?? Empty().eraseToAnyPublisher()
    }
  }

  private func remote(_ text: String) -> AnyPublisher<Fetched<String>, RemoteFeedError> {
    Just(Fetched(text, validators: Self.validators)).setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher()
  }

  @Test func `caching(to:) saves any value, with the time of the request`() {
    let drawer = Drawer()
    let outcome = outcome(of: remote("text").caching(to: drawer) { _ in })
    #expect(outcome.values == ["text"] && outcome.isFinished)
    #expect(drawer.saved == Saved("text", timestamp: noon, validators: Self.wholeAsked))
  }

  @Test func `a failing save is reported, and the value delivered`() {
    let drawer = Drawer()
    drawer.failure = .insertion(.diskFull, place: "a drawer")
    var reported: [FeedStoreError] = []
    let outcome = outcome(of: remote("text").caching(to: drawer) { reported.append($0) })
    #expect(outcome.values == ["text"] && outcome.isFinished)
    #expect(reported == [.insertion(.diskFull, place: "a drawer")])
  }

  @Test func `an unchanged feed delivers the saved one, and renews its timestamp`() {
    let drawer = Drawer()
    drawer.saved = Saved("old", timestamp: noon - 60)
    let unchanged = Fail<Fetched<String>, RemoteFeedError>(error: .unchanged(Self.validators))
    #expect(outcome(of: unchanged.caching(to: drawer) { _ in }).values == ["old"])
    #expect(drawer.saved == Saved("old", timestamp: noon, validators: Self.wholeAsked))
    drawer.saved = nil
    #expect(outcome(of: unchanged.caching(to: drawer) { _ in }).failure == .unchanged(Self.validators))
  }

  @Test func `fallback(to:) delivers any saved value with its age and the reason`() {
    let reason = RemoteFeedError.invalidData(.status(500))
    let saved = Just(Saved("old", timestamp: noon - 60)).setFailureType(to: CacheMiss.self)
    let loaded = Fail<String, RemoteFeedError>(error: reason).fallback(to: saved, now: { noon })
    #expect(
      outcome(of: loaded).values == [
        Loaded("old", source: .cache(savedAt: noon - 60, age: .seconds(60), reason: reason))
      ])
  }
}
