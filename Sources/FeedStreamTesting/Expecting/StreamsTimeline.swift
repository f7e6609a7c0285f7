import FeedStream

/// The events of a stream of streams: the arrival of each stream, and that stream's events.
struct StreamsTimeline<Value, StreamFailure: Error, Failure: Error> {
  typealias Events = [(time: StreamInstant.Stride, event: StreamEvent<Value, StreamFailure>)]

  struct Member {
    /// The stream's character in the diagram.
    var name: Character
    let start: StreamInstant.Stride
    /// The stream's events. Times are relative to `start`.
    let events: Events

    /// The stream's events. Times are relative to the same point as `start`.
    var absolute: Events { events.map { (start + $0.time, $0.event) } }
  }

  var streams: [Member] = []
  /// The completion of the stream of streams; empty if there is none.
  var ending: [(time: StreamInstant.Stride, event: StreamEvent<Never, Failure>)] = []

  /// The time at which the two timelines first differ, in any stream.
  func firstDifference(from other: Self) -> StreamInstant.Stride? {
    var marks: [StreamInstant.Stride] = []
    for (mine, theirs) in zip(streams, other.streams) {
      if mine.start != theirs.start { marks.append(min(mine.start, theirs.start)) }
      if let mark = FeedStreamTesting.firstDifference(mine.absolute, theirs.absolute) { marks.append(mark) }
    }
    let rest = streams.dropFirst(other.streams.count).first ?? other.streams.dropFirst(streams.count).first
    if let rest { marks.append(rest.start) }
    if let mark = FeedStreamTesting.firstDifference(ending, other.ending) { marks.append(mark) }
    return marks.min()
  }

  /// Gives each stream the name of an equal stream in `other`; if there is none, the name of the stream at the same
  /// index; if that name is taken, an unused letter. Streams that differ get different names.
  mutating func takeNames(from other: Self) {
    var named: [(name: Character, events: Events)] = []
    var free = Array("abcdefghijklmnopqrstuvwxyz").filter { letter in !other.streams.contains { $0.name == letter } }
    for index in streams.indices {
      let events = streams[index].events
      let candidates =
        named.filter { FeedStreamTesting.firstDifference($0.events, events) == nil }.map(\.name)
        + other.streams.filter { FeedStreamTesting.firstDifference($0.events, events) == nil }.map(\.name)
        + (index < other.streams.count ? [other.streams[index].name] : [])
      let name = candidates.first { candidate in
        named.allSatisfy { $0.name != candidate || FeedStreamTesting.firstDifference($0.events, events) == nil }
      }
      streams[index].name = name ?? (free.isEmpty ? "?" : free.removeFirst())
      named.append((streams[index].name, events))
    }
  }

  /// The lanes of a drawing: the stream of streams, and below it each stream, starting at its arrival.
  func lanes(
    _ title: String, _ key: MarbleKey<Value, StreamFailure>, _ outer: MarbleKey<Never, Failure>
  ) -> [MarbleText.Lane] {
    let events = streams.map { (time: $0.start, token: String($0.name)) }
    return [MarbleText.Lane(title: title, events: events + ending.map { ($0.time, outer.token(for: $0.event)) })]
      + streams.map { stream in
        MarbleText.Lane(
          title: "  \(stream.name)", events: stream.absolute.map { ($0.time, key.token(for: $0.event)) },
          start: stream.start)
      }
  }

  /// The arguments of an expectation that matches this timeline: `"x--y|", streams: ["x": "ab|", "y": "-c|"]`.
  func source(
    _ key: MarbleKey<Value, StreamFailure>, _ outer: MarbleKey<Never, Failure>, frame: StreamInstant.Stride
  ) -> String {
    var names = MarbleNames(key, for: streams.flatMap { $0.events.map(\.event) })
    var outerNames = MarbleNames(outer, for: ending.map(\.event))
    var texts: [(name: Character, text: String)] = []
    for stream in streams where !texts.contains(where: { $0.name == stream.name }) {
      texts.append((stream.name, names.text(of: stream.events, frame: frame)))
    }
    let list = texts.map { "\(String($0.name).quoted): \($0.text.quoted)" }.joined(separator: ", ")
    let marbles = streams.map { (time: $0.start, character: $0.name) }
    let endings = ending.map { (time: $0.time, character: outerNames.character(for: $0.event)) }
    let text = MarbleWriter(frame: frame).text(marbles + endings)
    return "\(text.quoted), streams: [\(list.isEmpty ? ":" : list)]\(names.arguments(failure: "streamFailure"))"
      + outerNames.arguments()
  }
}
