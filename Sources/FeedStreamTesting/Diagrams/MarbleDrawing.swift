import FeedStream

/// Draws a diagram as SVG.
///
/// The drawing uses attributes instead of a style sheet, so that a diagram in a page neither affects the page's styles
/// nor is affected by them.
struct MarbleDrawing {
  /// A gray that is readable on white and on black.
  private static let ink = "#768390"
  private static let red = "#d1344b"
  private static let box = "#475063"
  /// White text is readable on each color, and each color is readable on white and on black.
  private static let palette = [
    "#3b6fd4", "#b8541f", "#2c7f57", "#8f4bb0", "#b93a63", "#1f7a8c", "#86691d", "#5f6673",
  ]
  private static let laneHeight = 46.0
  private static let boxHeight = 40.0
  private static let font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

  private let diagram: MarbleDiagram
  private let layout: MarbleLayout
  private let margin: Double
  private var colors: [String: String] = [:]
  private var lines: [String] = []

  init(_ diagram: MarbleDiagram) {
    self.diagram = diagram
    let lanes = diagram.inputs + [diagram.output] + (diagram.demand.map { [$0] } ?? [])
    let caption = diagram.caption.isEmpty ? 0 : MarbleLayout.textWidth(diagram.caption, size: 14) + 32
    layout = MarbleLayout(lanes: lanes, showsTimes: diagram.showsTimes, least: caption)
    let title = lanes.map { MarbleLayout.textWidth($0.title, size: 13) }.max()!
    margin = title > 0 ? title + 18 : 8
    for lane in lanes {
      for case .value(let label) in lane.marks.map(\.kind) where colors[label] == nil {
        colors[label] = MarbleDrawing.palette[colors.count % MarbleDrawing.palette.count]
      }
    }
  }

  var svg: String {
    var drawing = self
    return drawing.draw()
  }

  private mutating func draw() -> String {
    let lanesWidth = layout.width
    let boxTop = 4 + Double(diagram.inputs.count) * MarbleDrawing.laneHeight + 2
    let outputTop = diagram.caption.isEmpty ? boxTop : boxTop + MarbleDrawing.boxHeight + 4
    var bottom = outputTop + MarbleDrawing.laneHeight
    let demandTop = bottom - 2
    if diagram.demand != nil { bottom += 38 }
    let size = (width: margin + lanesWidth + 8, height: bottom + (diagram.showsTimes ? 22 : 4))

    drawGuides(boxTop: boxTop, outputTop: outputTop)
    for (index, lane) in diagram.inputs.enumerated() {
      draw(lane, at: 4 + (Double(index) + 0.5) * MarbleDrawing.laneHeight, to: lanesWidth)
    }
    if !diagram.caption.isEmpty {
      let middle = boxTop + MarbleDrawing.boxHeight / 2
      add(
        """
        <rect x="\(n(margin))" y="\(n(boxTop))" width="\(n(lanesWidth))" height="\(n(MarbleDrawing.boxHeight))" rx="8" \
        fill="\(MarbleDrawing.box)"/>
        """)
      addText(diagram.caption, x: margin + lanesWidth / 2, y: middle, size: 14, fill: "#fff")
    }
    draw(diagram.output, at: outputTop + MarbleDrawing.laneHeight / 2, to: lanesWidth)
    if let demand = diagram.demand { drawDemand(demand, at: demandTop) }
    if diagram.showsTimes {
      for instant in layout.instants {
        addText(
          instant.nanoseconds.asTime, x: x(instant), y: bottom + 8, size: 11, fill: MarbleDrawing.ink)
      }
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(n(size.width))" height="\(n(size.height))" \
      viewBox="0 0 \(n(size.width)) \(n(size.height))" role="img" font-family="\(MarbleDrawing.font)">
      <title>\(escaped(diagram.caption.isEmpty ? "A marble diagram" : diagram.caption))</title>
      <desc>
      \(diagram.text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
        .joined(separator: "\n"))
      </desc>
      \(lines.joined(separator: "\n"))
      </svg>

      """
  }

  // MARK: Parts

  /// Faint lines that lead from the inputs to the box, and from the box to the output.
  private mutating func drawGuides(boxTop: Double, outputTop: Double) {
    guard !diagram.caption.isEmpty else { return }
    var guides: [(x: Double, from: Double, to: Double)] = []
    for (index, lane) in diagram.inputs.enumerated() {
      let middle = 4 + (Double(index) + 0.5) * MarbleDrawing.laneHeight
      for instant in Set(lane.marks.map(\.time)).sorted() { guides.append((x(instant), middle, boxTop)) }
    }
    for instant in Set(diagram.output.marks.map(\.time)).sorted() {
      guides.append((x(instant), boxTop + MarbleDrawing.boxHeight, outputTop + MarbleDrawing.laneHeight / 2))
    }
    add("<g stroke=\"\(MarbleDrawing.ink)\" stroke-opacity=\"0.6\" stroke-dasharray=\"2 3\">")
    for guide in guides { addLine(guide.x, guide.from, guide.x, guide.to) }
    add("</g>")
  }

  private mutating func draw(_ lane: MarbleDiagram.Lane, at y: Double, to width: Double) {
    drawTitle(lane.title, at: y)
    let ending = lane.marks.last { $0.kind == .finished || $0.kind.isFailure }
    let end = ending.map { place(of: $0, in: lane) } ?? margin + width - 2
    drawLine(at: y, to: end, isLive: ending == nil)
    for instant in Set(lane.marks.map(\.time)).sorted() {
      let kinds = lane.marks.filter { $0.time == instant }.map(\.kind)
      let offsets = MarbleLayout.offsets(kinds)
      let values = kinds.prefix { $0.isValue }
      if values.count > 1 { drawBand(Array(values), offsets, x: x(instant), y: y) }
      for (kind, offset) in Swift.zip(kinds, offsets) { draw(kind, x: x(instant) + offset, y: y) }
    }
  }

  /// Draws a band behind the values of one instant.
  private mutating func drawBand(_ kinds: [MarbleDiagram.Mark.Kind], _ offsets: [Double], x: Double, y: Double) {
    let left = x - MarbleLayout.width(kinds[0]) / 2 - 4
    let right = x + offsets[kinds.count - 1] + MarbleLayout.width(kinds.last!) / 2 + 4
    add(
      """
      <rect x="\(n(left))" y="\(n(y - 19))" width="\(n(right - left))" height="38" rx="19" fill="\(MarbleDrawing.ink)" \
      fill-opacity="0.3"/>
      """)
  }

  private mutating func drawTitle(_ title: String, at y: Double) {
    guard !title.isEmpty else { return }
    addText(title, x: margin - 10, y: y, size: 13, fill: MarbleDrawing.ink, anchor: "end")
  }

  private mutating func drawLine(at y: Double, to end: Double, isLive: Bool, dashes: String = "") {
    add("<g stroke=\"\(MarbleDrawing.ink)\" stroke-width=\"2\" fill=\"none\" stroke-linecap=\"round\"\(dashes)>")
    var start = margin
    for gap in layout.breaks.map({ margin + $0 }) where gap + 9 < end {
      addLine(start, y, gap - 9, y)
      add("<path d=\"M\(n(gap - 4)) \(n(y))h0m4 0h0m4 0h0\" stroke-width=\"2.5\"/>")
      start = gap + 9
    }
    addLine(start, y, end, y)
    if isLive { add("<path d=\"M\(n(end - 6)) \(n(y - 5))l6 5l-6 5\"/>") }
    add("</g>")
  }

  private mutating func draw(_ kind: MarbleDiagram.Mark.Kind, x: Double, y: Double) {
    switch kind {
    case .value(let label):
      let width = MarbleLayout.width(kind)
      let height = MarbleLayout.marble
      add(
        """
        <rect x="\(n(x - width / 2))" y="\(n(y - height / 2))" width="\(n(width))" height="\(n(height))" \
        rx="\(n(height / 2))" fill="\(colors[label]!)"/>
        """)
      addText(label, x: x, y: y, size: 14, fill: "#fff")
    case .finished:
      add("<g stroke=\"\(MarbleDrawing.ink)\" stroke-width=\"3\" stroke-linecap=\"round\">")
      addLine(x, y - 13, x, y + 13)
      add("</g>")
    case .failed(let label):
      add("<g stroke=\"\(MarbleDrawing.red)\" stroke-width=\"3\" stroke-linecap=\"round\">")
      addLine(x - 7, y - 7, x + 7, y + 7)
      addLine(x - 7, y + 7, x + 7, y - 7)
      add("</g>")
      if !label.isEmpty { addText(label, x: x, y: y + 17, size: 11, fill: MarbleDrawing.red) }
    case .requested(let label):
      add("<path d=\"M\(n(x - 5)) \(n(y + 6))l5 -8l5 8z\" fill=\"\(MarbleDrawing.ink)\"/>")
      addText("+\(label)", x: x, y: y + 15, size: 12, fill: MarbleDrawing.ink)
    }
  }

  /// Draws requests pointing up, to the operator that receives them.
  private mutating func drawDemand(_ lane: MarbleDiagram.Lane, at y: Double) {
    drawTitle(lane.title, at: y + 8)
    for mark in lane.marks { draw(mark.kind, x: x(mark.time), y: y + 6) }
  }

  // MARK: Pieces

  private func x(_ instant: StreamInstant.Stride) -> Double { margin + layout.position(of: instant) }

  private func place(of mark: MarbleDiagram.Mark, in lane: MarbleDiagram.Lane) -> Double {
    x(mark.time) + MarbleLayout.offsets(lane.marks.filter { $0.time == mark.time }.map(\.kind)).last!
  }

  private mutating func add(_ line: String) { lines.append(line) }

  private mutating func addLine(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
    add("<line x1=\"\(n(x1))\" y1=\"\(n(y1))\" x2=\"\(n(x2))\" y2=\"\(n(y2))\"/>")
  }

  private mutating func addText(
    _ text: String, x: Double, y: Double, size: Int, fill: String, anchor: String = "middle"
  ) {
    // The baseline is about a third of the font size below the middle of the letters.
    add(
      """
      <text x="\(n(x))" y="\(n(y + Double(size) * 0.35))" font-size="\(size)" fill="\(fill)" text-anchor="\(anchor)" \
      xml:space="preserve">\(escaped(text))</text>
      """)
  }

  /// A coordinate with at most one decimal.
  private func n(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  private func escaped(_ text: String) -> String {
    // A character can be more than one of these scalars.
    text.onOneLine.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension MarbleDiagram.Mark.Kind {
  fileprivate var isValue: Bool { if case .value = self { true } else { false } }
  fileprivate var isFailure: Bool { if case .failed = self { true } else { false } }
}
