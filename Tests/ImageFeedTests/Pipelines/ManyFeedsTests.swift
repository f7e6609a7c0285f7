import FeedStream
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport
@testable import ImageFeed

/// More concurrent feeds than the process has descriptors for; each test runs in its own process.
@Suite(.settled) struct ManyFeedsTests {
  private static let images = makeFeed(3).images

  @Test(.timeLimit(.minutes(5)), arguments: ["127.0.0.1", "localhost"])
  func `two thousand simultaneous feeds are loaded and saved with 64 descriptors`(host: String) async {
    let origins = (0..<20).map { _ in
      RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], FeedPayload.bytes(of: Self.images)) }
    }
    defer { for origin in origins { origin.stop() } }
    let folder = TemporaryFolder()
    let ports = origins.map { Int($0.port) }
    await #expect(processExitsWith: .success) {
      [host = host as String, ports = ports as [Int], path = folder.file() as String] in
      limitDescriptors(to: 64)
      let loop = EventLoop()
      var configuration = CurlHTTPClient.Configuration()
      configuration.usesProxies = false
      let client = CurlHTTPClient(on: loop, configuration)
      let store = SQLiteFeedStore(path: path)
      let cache = FeedCache(store: store, on: loop)
      var options = FeedLoader.Options()
      options.timeout = .seconds(150)
      options.report = { preconditionFailure("\($0)") }
      var (shown, ended, most) = (0, 0, 0)
      let loads = (0..<2_000).map { number in
        let url = URL(string: "http://\(host):\(ports[number % 20])/\(number)")!
        return FeedLoader(url, client: client, cache: cache, on: loop, options: options).load().sink { completion in
          guard case .finished = completion else { preconditionFailure("\(completion)") }
          ended += 1
        } receiveValue: {
          precondition($0 == Feed(images: makeFeed(3).images, source: .remote), "\($0)")
          shown += 1
          most = max(most, client.openConnections)
        }
      }
      loop.run()
      precondition(shown == 2_000 && ended == 2_000 && loads.count == 2_000, "\(shown) shown, \(ended) ended")
      try check(store.summaries().count == 2_000)
      // The client uses half of the remaining descriptors, however many are requested.
      precondition(most <= 32 && most > 8, "\(most) connections were open")
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a save waits for a descriptor, and fails with that reason if none becomes free`()
    async throws
  {
    let folder = TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file() as String] in
      limitDescriptors(to: 64)
      let store = SQLiteFeedStore(path: path, busyTimeout: .milliseconds(500))
      var taken = takeAllDescriptors()
      do {
        _ = try store.replace(for: address, with: makeFeed())
        preconditionFailure("there was a descriptor after all")
      } catch let error as FeedStoreError {
        precondition(error == .insertion(.inputOutput("Too many open files"), place: path), "\(error)")
      }
      // Free descriptors one by one, so that every step of opening the cache fails once for lack of one.
      let patient = SQLiteFeedStore(path: path, busyTimeout: .seconds(30))
      let returned = taken
      Thread.detachNewThread {
        for descriptor in returned {
          usleep(20_000)
          close(descriptor)
        }
      }
      try check(patient.replace(for: address, with: makeFeed()) == .replaced)
      try check(patient.retrieve(for: address) == makeFeed())
      patient.close()
      taken = takeAllDescriptors()
      for descriptor in taken.suffix(1) { close(descriptor) }
      Thread.detachNewThread { [taken] in
        for descriptor in taken.dropLast() {
          usleep(20_000)
          close(descriptor)
        }
      }
      try check(patient.retrieve(for: address) == makeFeed())
    }
    #expect(try SQLiteFeedStore(path: folder.file()).retrieve(for: address) == makeFeed())
  }
}

private func check(_ isTrue: Bool) {
  precondition(isTrue, "see the line that called this")
}

private func takeAllDescriptors() -> [Int32] {
  var taken: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
  precondition(errno == EMFILE, "they ran out for another reason")
  return taken
}
