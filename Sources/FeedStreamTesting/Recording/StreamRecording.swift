import FeedStream

/// A stream that a stream has delivered, such as a window or a group, and what it delivered in its turn.
public struct StreamRecording<Stream: Publisher> {
  /// The stream, for its key if it has one.
  public let stream: Stream
  /// What it delivered since it came.
  public let recorder: Recorder<Stream.Output, Stream.Failure>
}

extension Publisher where Output: Publisher {
  /// Subscribes a ``Recorder``, and another to each stream that is delivered, as it comes.
  ///
  ///     let windows = source.window(2).recordStreams(on: time)
  ///     time.run()
  ///     windows.expect("x--y-|", streams: ["x": "a--(b|)", "y": "c-|"])
  ///
  /// The recorders of streams that are live at the end of `withVirtualTime` are cancelled by it.
  ///
  /// - Parameters:
  ///   - time: the scheduler.
  ///   - demand: how streams are asked for.
  ///   - streamDemand: how each stream is asked for its values.
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
