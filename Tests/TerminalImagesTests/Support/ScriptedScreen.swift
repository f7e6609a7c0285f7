import PlainText
import TerminalImages

/// The screen of a terminal: interprets the bytes of ``ScreenWriter`` without using grids.
struct ScriptedScreen {
  struct Shown: Hashable {
    var row: Int
    var column: Int
    /// The number of a kept image; 0 for sixels.
    var number: Int
  }

  let columns: Int
  let rows: Int
  private(set) var cells: [String]
  private(set) var looks: [String]
  private(set) var images: Set<Shown> = []
  private(set) var kept: Set<Int> = []
  private var placements: [String: Shown] = [:]
  private(set) var complaints: [String] = []
  /// The characters that the terminal draws in one column, whatever their width.
  var narrow: Set<Character> = []
  private var (row, column, look) = (0, 0, "")

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: " ", count: columns * rows)
    looks = Array(repeating: "", count: columns * rows)
  }

  mutating func take(_ bytes: [UInt8]) {
    var rest = Substring(text(bytes))
    while let first = rest.popFirst() {
      guard first == "\u{1B}" else {
        print(first)
        continue
      }
      switch rest.popFirst() {
      case "[":
        let numbers = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(numbers.count)
        control(numbers, rest.popFirst() ?? " ")
      case "P":
        let end = rest.firstRange(of: "\u{1B}\\")!
        images.insert(Shown(row: row, column: column, number: 0))
        rest = rest[end.upperBound...]
      case "_":
        let end = rest.firstRange(of: "\u{1B}\\")!
        graphics(rest[..<end.lowerBound].dropFirst().prefix { $0 != ";" })
        rest = rest[end.upperBound...]
      default: complaints.append("an escape for nothing")
      }
    }
  }

  private mutating func print(_ character: Character) {
    let width = narrow.contains(character) ? 1 : character.columns
    guard column + width <= columns else { return complaints.append("\(character) beyond the edge") }
    eraseImage(at: row, column)
    let place = row * columns + column
    // A terminal erases the whole of each wide character that is partly overwritten.
    var (first, end) = (place, place + width)
    while cells[first].isEmpty { first -= 1 }
    while end < cells.count, cells[end].isEmpty { end += 1 }
    for other in first..<end { cells[other] = " " }
    for covered in place..<place + width { (cells[covered], looks[covered]) = ("", look) }
    cells[place] = String(character)
    column += width
  }

  /// Writing over sixels erases them.
  private mutating func eraseImage(at row: Int, _ column: Int) {
    images = images.filter { $0.number != 0 || $0.row != row || $0.column != column }
  }

  private mutating func control(_ numbers: Substring, _ letter: Character) {
    let parts = numbers.split(separator: ";").map { Int($0) ?? 0 }
    switch letter {
    case "H": (row, column) = (parts[0] - 1, parts[1] - 1)
    case "m": look = numbers == "0" ? "" : String(numbers)
    case "J":
      cells = Array(repeating: " ", count: columns * rows)
      looks = Array(repeating: "", count: columns * rows)
      // kitty forgets all of its images, even those that aren't on the screen.
      (images, kept, placements) = ([], [], [:])
    case "h", "l": break
    default: complaints.append("what is \(numbers)\(letter)?")
    }
  }

  private mutating func graphics(_ keys: Substring) {
    var values: [Substring: Substring] = [:]
    for pair in keys.split(separator: ",") { values[pair.prefix(1)] = pair.dropFirst(2) }
    let number = Int(values["i"] ?? "") ?? -1
    let place = "\(number) \(values["p"] ?? "")"
    switch (values["a"], values["d"]) {
    case ("t", _): kept.insert(number)
    case ("p", _):
      if !kept.contains(number) { complaints.append("\(number) is not kept") }
      placements[place] = Shown(row: row, column: column, number: number)
    case ("d", "i"): if placements.removeValue(forKey: place) == nil { complaints.append("\(place) is not shown") }
    case ("d", "I"):
      if kept.remove(number) == nil { complaints.append("\(number) is not kept") }
      placements = placements.filter { $0.value.number != number }
    case (nil, _): break
    default: complaints.append("what is \(keys)?")
    }
    images = images.filter { $0.number == 0 }.union(placements.values)
  }
}
