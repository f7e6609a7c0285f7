import FeedStream

/// A marble diagram: the inputs of an operator, the operator, and its output, as text or as an image.
///
///     let recorder = typing.debounce(for: 2, scheduler: time).record(on: time)
///     time.run()
///     let diagram = recorder.diagram("debounce(for: 2)", inputs: [MarbleDiagram.Lane("typing", marbles)])
///     print(diagram.text)
///     try Data(diagram.svg.utf8).write(to: file)
///
/// The same recording produces the same bytes on every machine.
public struct MarbleDiagram: Equatable, Sendable, CustomStringConvertible {
  /// The text in the box; if it is empty, there is no box.
  public var caption: String
  /// The inputs, from top to bottom.
  public var inputs: [Lane]
  /// The output.
  public var output: Lane
  /// The demand, drawn under the output; see ``Recorder/demandLane(_:)``.
  public var demand: Lane?
  /// True if the image shows the time of each event. The text always does.
  public var showsTimes: Bool

  public init(
    _ caption: String = "", inputs: [Lane] = [], output: Lane, demand: Lane? = nil, showsTimes: Bool = false
  ) {
    self.caption = caption
    self.inputs = inputs
    self.output = output
    self.demand = demand
    self.showsTimes = showsTimes
  }

  /// The diagram as text: the times, the inputs, the operator, the output and the demand.
  public var text: String {
    let lanes = (inputs + [output] + (demand.map { [$0] } ?? [])).map { lane in
      MarbleText.Lane(
        title: lane.title.onOneLine, events: lane.marks.map { ($0.time, $0.kind.token) }, isStream: lane != demand)
    }
    var lines = MarbleText(lanes).draw().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if !caption.isEmpty {
      let indent = String(repeating: " ", count: (lanes.map(\.title.columns).max() ?? 0) + 2)
      lines.insert("\(indent)[ \(caption.onOneLine) ]", at: inputs.count + 1)
    }
    return lines.joined(separator: "\n")
  }

  /// The diagram as an image: a complete SVG document without a background, in colors that are readable on light and
  /// dark backgrounds.
  ///
  /// Time runs from left to right. Distances are to scale, except that long waits are shortened and dotted. A value has
  /// the same color wherever it appears.
  public var svg: String { MarbleDrawing(self).svg }

  public var description: String { text }
}

extension MarbleDiagram {
  /// One line of a diagram.
  public struct Lane: Equatable, Sendable {
    /// The text to the left of the line.
    public var title: String
    /// The events on the line, in order.
    public var marks: [Mark]

    public init(_ title: String = "", _ marks: [Mark]) {
      self.title = title
      self.marks = marks
    }

    /// Makes a lane from the events in `marbles`, except those before `^`.
    public init(_ title: String = "", _ marbles: Marbles) {
      self.init(
        title,
        marbles.marbles.filter { $0.time.nanoseconds >= 0 }.map { marble in
          switch marble.symbol {
          case .value(let character): Mark(.value(String(character)), at: marble.time)
          case .finished: Mark(.finished, at: marble.time)
          case .failed: Mark(.failed(""), at: marble.time)
          }
        })
    }
  }

  /// An event on a lane.
  public struct Mark: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
      /// A value, with the text that its marble shows.
      case value(String)
      case finished
      /// A failure, with the text that is shown below it.
      case failed(String)
      /// A request as text, such as `1` or `∞`.
      case requested(String)

      fileprivate var token: String {
        switch self {
        case .value(let label): label.count == 1 ? label.onOneLine : "‹\(label.onOneLine)›"
        case .finished: "|"
        case .failed(let label): "#\(label.onOneLine)"
        case .requested(let label): "+\(label)"
        }
      }
    }

    public var kind: Kind
    /// The time since the beginning of the diagram.
    public var time: StreamInstant.Stride

    public init(_ kind: Kind, at time: StreamInstant.Stride) {
      self.kind = kind
      self.time = time
    }
  }
}

extension Recorder {
  /// The recording as a lane. Times are relative to the subscription. All events count as read.
  public func lane(_ title: String = "") -> MarbleDiagram.Lane {
    let start = subscribedAt ?? time.now
    return MarbleDiagram.Lane(
      title,
      events.map { event in
        let time = start.distance(to: event.time)
        switch event.content {
        case .value(let value): return MarbleDiagram.Mark(.value("\(value)"), at: time)
        case .completion(.finished): return MarbleDiagram.Mark(.finished, at: time)
        case .completion(.failure(let error)):
          return MarbleDiagram.Mark(.failed(error is MarbleFailure ? "" : "\(error)"), at: time)
        }
      })
  }

  /// The demand over time: requests and returned demand, added up for each instant.
  public func demandLane(_ title: String = "demand") -> MarbleDiagram.Lane {
    let start = subscribedAt ?? time.now
    var sums: [(time: StreamInstant.Stride, demand: Subscribers.Demand)] = []
    for entry in ledger.entries {
      let demand: Subscribers.Demand
      switch entry.content {
      case .requested(let asked), .answered(let asked): demand = asked
      case .used, .overdrawn: continue
      }
      let time = start.distance(to: entry.time)
      if sums.last?.time == time { sums[sums.count - 1].demand += demand } else { sums.append((time, demand)) }
    }
    return MarbleDiagram.Lane(
      title,
      sums.map { MarbleDiagram.Mark(.requested($0.demand.max.map(String.init) ?? "∞"), at: $0.time) })
  }

  /// The recording, drawn below its operator.
  ///
  /// - Parameters:
  ///   - caption: the text in the box, usually the operator call; if it is empty, there is no box.
  ///   - inputs: the operator's inputs.
  ///   - showsDemand: true to show the demand, too.
  ///   - showsTimes: true to show the time of each event in the image.
  public func diagram(
    _ caption: String = "", inputs: [MarbleDiagram.Lane] = [], showsDemand: Bool = false, showsTimes: Bool = false
  ) -> MarbleDiagram {
    MarbleDiagram(
      caption, inputs: inputs, output: lane(), demand: showsDemand ? demandLane() : nil, showsTimes: showsTimes)
  }
}
