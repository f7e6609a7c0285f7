public import FeedStream

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Makes feed images of each response, aside from the loop, and fails with what was wrong.
  ///
  /// **Demand:** one response at a time. **Failure:** ``RemoteFeedError``. **Cancellation:** passes through; decoding that
  /// has begun ends unheard.
  ///
  /// - Parameter scheduler: whose thread pool decodes: a large feed takes a third of a second that the loop cannot spare.
  public func mapFeed(on scheduler: any LoopScheduler) -> some Publisher<[FeedImage], RemoteFeedError> {
    mapFeed(on: scheduler, after: nil)
  }

  /// The same, with images that are those of the poll before passed on as the same array.
  func mapFeed(
    on scheduler: any LoopScheduler, after last: LastImages?
  ) -> some Publisher<[FeedImage], RemoteFeedError> {
    let worker = SerialWorker(on: scheduler)
    return mapError(RemoteFeedError.connectivity)
      .flatMap(maxPublishers: .max(1)) { response in
        worker.publisher { () throws(InvalidData) -> [FeedImage] in
          let images = try FeedImagesMapper.map(response.body, status: response.status)
          return last?.settle(images) ?? images
        }
        .mapError(RemoteFeedError.invalidData)
      }
  }
}
