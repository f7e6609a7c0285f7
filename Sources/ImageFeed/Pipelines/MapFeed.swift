public import FeedStream

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Makes feed images of each response, aside from the loop, and fails with what was wrong.
  ///
  /// **Demand:** one response at a time. **Failure:** ``RemoteFeedError``. **Cancellation:** passes through; decoding that
  /// has begun ends unheard.
  ///
  /// - Parameters:
  ///   - scheduler: whose thread pool decodes: a large feed takes a third of a second that the loop cannot spare.
  ///   - maxValues: how many values of JSON a body may hold; 2,000,000 by default.
  public func mapFeed(
    on scheduler: any LoopScheduler, maxValues: Int = FeedImagesMapper.defaultMaxValues
  ) -> some Publisher<FeedImages, RemoteFeedError> {
    let worker = SerialWorker(on: scheduler)
    return mapError(RemoteFeedError.connectivity)
      .flatMap(maxPublishers: .max(1)) { response in
        worker.publisher { () throws(InvalidData) -> FeedImages in
          try FeedImagesMapper.map(response.body, status: response.status, maxValues: maxValues)
        }
        .mapError(RemoteFeedError.invalidData)
      }
  }
}
