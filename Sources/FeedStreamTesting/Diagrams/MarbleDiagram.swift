import FeedStream

/// A marble diagram: what goes into an operator, the operator, and what comes out, as text or as a picture.
///
///     let recorder = typing.debounce(for: 2, scheduler: time).record(on: time)
///     time.run()
///     let diagram = recorder.diagram("debounce(for: 2)", inputs: [MarbleDiagram.Lane("typing", marbles)])
///     print(diagram.text)
///     try Data(diagram.svg.utf8).write(to: file)
///
/// Both are the same to the byte for the same recording, on every machine.
public struct MarbleDiagram: Equatable, Sendable, CustomStringConvertible {
  /// What is written in the box; without it there is no box.
  public var caption: String
  /// What goes in, from top to bottom.
  public var inputs: [Lane]
  /// What comes out.
  public var output: Lane
  /// What was asked for, under the output; see ``Recorder/demandLane(_:)``.
  public var demand: Lane?
  /// Whether the picture says when each event happens. The text always does.
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

  /// The diagram as text: times, inputs, the operator, the output, demand.
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

  /// The diagram as a picture: a whole SVG document without a background, in colours that read on light and dark.
  ///
  /// Time runs from left to right. Distances are to scale, but for long waits, which are shortened and dotted. A value has
  /// the same colour wherever it appears.
  public var svg: String { MarbleDrawing(self).svg }

  public var description: String { text }
}

extension MarbleDiagram {
  /// One line of a diagram.
  public struct Lane: Equatable, Sendable {
    /// Stands to the left.
    public var title: String
    /// What happens on it, in order.
    public var marks: [Mark]

    public init(_ title: String = "", _ marks: [Mark]) {
      self.title = title
      self.marks = marks
    }

    /// What `marbles` show; what is before `^` is left out.
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

  /// Something on a lane.
  public struct Mark: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
      /// A value, as it is written in its marble.
      case value(String)
      case finished
      /// A failure, with what is written beside it.
      case failed(String)
      /// A request, as it is written: `1`, `∞`.
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
    /// Counted from the beginning of the diagram.
    public var time: StreamInstant.Stride

    public init(_ kind: Kind, at time: StreamInstant.Stride) {
      self.kind = kind
      self.time = time
    }
  }
}

extension Recorder {
  /// The recording as a lane, its time counted from the subscription. All events count as looked at.
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

  /// What was asked for, and when: requests and answers to values, those of one instant added up.
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

  /// The recording under the operator it came from.
  ///
  /// - Parameters:
  ///   - caption: what is written in the box, the operator as it is called; without it there is no box.
  ///   - inputs: what went in.
  ///   - showsDemand: whether what was asked for is shown too.
  ///   - showsTimes: whether the picture says when each event happens.
  public func diagram(
    _ caption: String = "", inputs: [MarbleDiagram.Lane] = [], showsDemand: Bool = false, showsTimes: Bool = false
  ) -> MarbleDiagram {
    MarbleDiagram(
      caption, inputs: inputs, output: lane(), demand: showsDemand ? demandLane() : nil, showsTimes: showsTimes)
  }
}
