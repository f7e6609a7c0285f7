/// Delivers recorded values, then the recorded completion.
///
///     Record(output: [1, 2], completion: .finished)    12|
///
/// **Demand:** as many values as requested, during the request. **Failure:** the recorded failure, with the last value,
/// or immediately if there are no values. **Cancellation:** immediate. **Policy:** forwards.
public struct Record<Output, Failure: Error>: Publisher, _DeliversAtHome {
  /// The recorded values and the completion.
  public let recording: Recording

  /// Makes a recording with `record`; if `record` adds no completion, the recording finishes.
  public init(record: (inout Recording) -> Void) {
    var recording = Recording()
    record(&recording)
    self.init(recording: recording)
  }

  public init(recording: Recording) { self.recording = recording }

  public init(output: [Output], completion: Subscribers.Completion<Failure>) {
    self.init(recording: Recording(output: output, completion: completion))
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.attach(
      "Cancelled Events", delivering: recording.output, then: recording.completion, showingEnding: true)
  }

  /// Values and a completion, in the order in which they were received.
  public struct Recording {
    public typealias Input = Output

    public private(set) var output: [Output] = []
    /// The completion; `.finished` until one is received.
    public private(set) var completion: Subscribers.Completion<Failure> = .finished
    private var hasEnded = false

    public init() {}

    /// Makes a completed recording.
    public init(output: [Output], completion: Subscribers.Completion<Failure> = .finished) {
      self.output = output
      self.completion = completion
      hasEnded = true
    }

    /// Records a value.
    ///
    /// - Precondition: the recording has not completed.
    public mutating func receive(_ input: Output) {
      precondition(!hasEnded, "Recording.receive: the recording has completed; record values before the completion")
      output.append(input)
    }

    /// Records the completion.
    ///
    /// - Precondition: the recording has not completed.
    public mutating func receive(completion: Subscribers.Completion<Failure>) {
      precondition(
        !hasEnded, "Recording.receive(completion:): the recording has already completed; record only one completion")
      self.completion = completion
      hasEnded = true
    }
  }
}

// MARK: - Coding

private enum RecordKeys: String, CodingKey { case recording }
private enum RecordingKeys: String, CodingKey { case output, completion }

extension Record: Encodable where Output: Encodable, Failure: Encodable {
  /// Encodes `{"recording": …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: RecordKeys.self)
    try container.encode(recording, forKey: .recording)
  }
}

extension Record: Decodable where Output: Decodable, Failure: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: RecordKeys.self)
    self.init(recording: try container.decode(Recording.self, forKey: .recording))
  }
}

extension Record.Recording: Encodable where Output: Encodable, Failure: Encodable {
  /// Encodes `{"output": […], "completion": …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: RecordingKeys.self)
    try container.encode(output, forKey: .output)
    try container.encode(completion, forKey: .completion)
  }

  /// The same as ``encode(to:)``; Combine has both names.
  public func encode(into encoder: any Encoder) throws { try encode(to: encoder) }
}

extension Record.Recording: Decodable where Output: Decodable, Failure: Decodable {
  /// Decodes a completed recording.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: RecordingKeys.self)
    self.init(
      output: try container.decode([Output].self, forKey: .output),
      completion: try container.decode(Subscribers.Completion<Failure>.self, forKey: .completion))
  }
}
