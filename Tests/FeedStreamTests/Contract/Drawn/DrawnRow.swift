import FeedStream
import FeedStreamTesting
import Foundation
import Testing

/// The sources of an operator's diagram.
struct DrawnSources {
  typealias Source = ScriptedPublisher<String, MarbleFailure>
  let drawing: Drawing
  let time: VirtualTimeScheduler

  func callAsFunction(_ label: String) -> Source { time.hot(drawing.marbles(label) ?? "#") }
  var up: Source { self("upstream") }
  /// The upstream lane, which starts from the beginning for each subscriber.
  var cold: Source { time.cold(drawing.marbles("upstream") ?? "#") }
  var numbers: Publishers.Map<Source, Int> { up.map { Int($0) ?? 0 } }

  /// The values of a lane by their names, which may be longer than one character.
  func wide(_ label: String = "upstream") -> Publishers.Map<Source, String> {
    let tokens = (try? drawing.lane(label, isWide: true)) ?? []
    var (marbles, names): (String, [String: String]) = ("", [:])
    for (token, letter) in zip(tokens, "abcdefghijklmnopqrstuvwxyz") {
      let column = token.instants.max() ?? 0
      marbles += String(repeating: "-", count: Swift.max(0, column - marbles.count))
      marbles += ["|", "#"].contains(token.name) ? token.name : String(letter)
      names[String(letter)] = token.name.replacing("\"", with: "")
    }
    return time.hot(marbles).map { [names] in names[$0] ?? $0 }
  }

  var chunks: Publishers.Map<Publishers.Map<Source, String>, Chunk> {
    wide().map { Chunk($0.replacing("⏎", with: "\n")) }
  }

  /// The lane from its beginning, for subscribers at that time.
  func inner(_ label: String) -> Source { time.cold(drawing.suffix(label) ?? "#") }

  /// One lane per subscription, in order.
  func attempts() -> Deferred<Source> {
    var left = drawing.suffixes("upstream")
    return Deferred { [time] in time.cold(left.isEmpty ? "#" : left.removeFirst()) }
  }

  /// The events of a subscriber that subscribes when `lane` begins, while another one is subscribed from the beginning.
  func late<P: Publisher>(_ shared: P, _ lane: String) -> AnyPublisher<P.Output, P.Failure> {
    shared.filter { _ in false }.merge(
      with: shared.delaySubscription(for: .milliseconds(drawing.begin(of: lane)), scheduler: time)
    ).eraseToAnyPublisher()
  }
}

/// For diagrams of operators whose closures throw "on x".
func throwing<T>(on trouble: String, _ value: String, _ result: T) throws -> T {
  if value == trouble { throw MarbleFailure() }
  return result
}

struct DrawnRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let file: String
  let title: String
  /// True when each run of letters and digits is one value.
  let isWide: Bool
  /// The lane that is compared.
  let lane: String
  let build: @Sendable (DrawnSources) -> AnyPublisher<String, any Error>

  init<P: Publisher & SendableMetatype>(
    _ file: String, _ title: String, lane: String = "downstream", wide isWide: Bool = false,
    _ build: @escaping @Sendable (DrawnSources) -> P
  ) {
    testDescription = (title.isEmpty ? file : title) + (lane == "downstream" ? "" : ", \(lane)")
    (self.file, self.title, self.lane, self.isWide) = (file, title, lane, isWide)
    self.build = { sources in
      build(sources).map { "\($0)".filter { $0 != " " && $0 != "\"" } }.eraseFailureType()
        .eraseToAnyPublisher()
    }
  }

  func drawing() throws -> Drawing {
    let block = try DrawnRow.blocks(in: "\(file).swift").first { shows($0) }
    return Drawing(lines: try #require(block, "no diagram \(title) in \(file)"))
  }

  func shows(_ block: [String]) -> Bool {
    (title.isEmpty || block.contains { $0 == title || $0.hasPrefix(title + "   ") })
      && block.contains { $0.drop { $0 == " " }.hasPrefix(lane + " ") }
  }

  static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
    .appending(path: "../../../../../Sources/FeedStream/Operators").standardized

  /// The indented parts of a file's comments.
  static func blocks(in file: String) throws -> [[String]] {
    let text = try String(contentsOf: folder.appending(path: file).standardized, encoding: .utf8)
    var blocks: [[String]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let comment = line.drop { $0 == " " }
      if comment.hasPrefix("///     ") {
        blocks[blocks.count - 1].append(String(comment.dropFirst(8)))
      } else if blocks.last?.isEmpty == false {
        blocks.append([])
      }
    }
    return blocks.filter { !$0.isEmpty }
  }
}
