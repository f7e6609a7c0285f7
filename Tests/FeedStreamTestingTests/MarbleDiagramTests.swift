import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite(.settled) struct MarbleDiagramTests {
  private let time = VirtualTimeScheduler()

  private func zipped(_ marbles: String, _ other: String, demand: DemandScript = .unlimited) throws -> MarbleDiagram {
    let first: ScriptedPublisher<Int, MarbleFailure> = time.cold(marbles, frame: 1)
    let second: ScriptedPublisher<Int, MarbleFailure> = time.cold(other, frame: 1)
    let recorder = first.zip(second) { $0 + $1 }.record(on: time, demand: demand)
    time.run()
    return recorder.diagram(
      "zip(other) { $0 + $1 }",
      inputs: try [
        MarbleDiagram.Lane("", Marbles(marbles, frame: 1)), MarbleDiagram.Lane("other", Marbles(other, frame: 1)),
      ],
      showsDemand: true, showsTimes: true)
  }

  @Test func `a recording is drawn as text with its operator`() throws {
    let diagram = try zipped("1-5|", "-2-8#", demand: DemandScript(initial: .max(1), answers: [.max(2)]))
    #expect(
      diagram.text == """
                0s 1s 2s 3s      4s
                1-----5--|
        other   ---2-----8-------#
                [ zip(other) { $0 + $1 } ]
                ---3-----(‹13›|)
        demand  +1 +2    +2
        """)
  }

  @Test func `a diagram's SVG is well-formed and deterministic`() throws {
    let error = MarbleDiagram.Mark(.failed("<&\">"), at: 3)
    let diagram = MarbleDiagram(
      "map { $0 < 1 && $0 > \"2\" }",
      inputs: [MarbleDiagram.Lane("a & b", [MarbleDiagram.Mark(.value("<x>"), at: 0), error])],
      output: MarbleDiagram.Lane("", [error]), demand: MarbleDiagram.Lane("demand", []), showsTimes: true)
    #expect(Elements(diagram.svg)?.count(of: "text") == 8)
    #expect(Elements(try zipped("1-5|", "-2-8|").svg) != nil)
    #expect(diagram.svg == diagram.svg)
  }

  @Test func `an SVG stays well-formed if characters join with its markup`() throws {
    let mark = MarbleDiagram.Mark(.value("\u{600}<x&\u{301}"), at: 0)
    let diagram = MarbleDiagram("map", output: MarbleDiagram.Lane("", [mark]))
    #expect(Elements(diagram.svg)?.count(of: "text") == 2)
  }

  @Test func `values that a diagram can't draw are escaped as in Swift`() throws {
    let mark = MarbleDiagram.Mark(.value("a\n\u{1}\u{FFFF}"), at: 0)
    let diagram = MarbleDiagram("map \u{2}", output: MarbleDiagram.Lane("", [mark]))
    #expect(Elements(diagram.svg)?.count(of: "text") == 2)
    #expect(diagram.text == "  0s\n  [ map \\u{2} ]\n  ‹a\\n\\u{1}\\u{ffff}›-")
  }

  @Test func `a value has one color wherever it appears`() throws {
    let svg = MarbleDiagram(
      inputs: [try MarbleDiagram.Lane("", Marbles("ab"))], output: try MarbleDiagram.Lane("", Marbles("ba"))
    ).svg
    let fills = svg.matches(of: /rx="15" fill="(#\w+)"/).map { String($0.output.1) }
    #expect(fills.count == 4)
    #expect(fills == [fills[0], fills[1], fills[1], fills[0]])
    #expect(fills[0] != fills[1])
  }

  @Test func `a long wait is drawn shortened`() throws {
    let wait = MarbleDiagram(output: try MarbleDiagram.Lane("", Marbles("ab 1h c|")))
    let width = try #require(wait.svg.firstMatch(of: /width="(\d+)/)?.output.1)
    #expect(try #require(Int(width)) < 500)
  }

  @Test func `events from before the test aren't drawn`() throws {
    let lane = try MarbleDiagram.Lane("", Marbles("ab^c"))
    #expect(lane.marks == [MarbleDiagram.Mark(.value("c"), at: .milliseconds(1))])
  }
}

/// Counts the elements of a document.
private final class Elements: NSObject, XMLParserDelegate {
  private var counts: [String: Int] = [:]

  /// `nil` for a document that is not well formed.
  init?(_ document: String) {
    super.init()
    let parser = XMLParser(data: Data(document.utf8))
    parser.delegate = self
    guard parser.parse() else { return nil }
  }

  func count(of name: String) -> Int { counts[name, default: 0] }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) { counts[elementName, default: 0] += 1 }
}
