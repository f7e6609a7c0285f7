import FeedStream

/// A stream that another stream has delivered, such as a window or a group, with its events.
public struct StreamRecording<Stream: Publisher> {
  /// The stream. If it is a group, it has a key.
  public let stream: Stream
  /// The recorder of the stream's events since its arrival.
  public let recorder: Recorder<Stream.Output, Stream.Failure>
}

extension Publisher where Output: Publisher {
  /// Subscribes a ``Recorder`` to this publisher, and a separate one to each delivered stream when that stream arrives.
  ///
  ///     let windows = source.window(2).recordStreams(on: time)
  ///     time.run()
  ///     windows.expect("x--y-|", streams: ["x": "a--(b|)", "y": "c-|"])
  ///
  /// At its end, `withVirtualTime` cancels the recorders of streams that are still live.
  ///
  /// - Parameters:
  ///   - time: the scheduler.
  ///   - demand: the requests for streams.
  ///   - streamDemand: the requests for values of each stream.
  public func recordStreams(
    on time: VirtualTimeScheduler = VirtualTimeScheduler(), demand: DemandScript = .unlimited,
    streamDemand: DemandScript = .unlimited, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Recorder<StreamRecording<Output>, Failure> {
    map { stream in
      let recorder = stream.record(
        on: time, demand: streamDemand, fileID: fileID, filePath: filePath, line: line, column: column)
      return StreamRecording(stream: stream, recorder: recorder.cancelledAtEnd())
    }.record(on: time, demand: demand, fileID: fileID, filePath: filePath, line: line, column: column)
  }
}
