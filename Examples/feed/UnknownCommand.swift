import ArgumentParser
import PlainText

/// An unknown word in place of a command.
enum UnknownCommand {
  /// The message for a command line with such a word; `nil` for any other command line.
  static func message(_ arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = FeedCommand.self
    var path = ["feed"]
    // `feed help` takes the same words.
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      let names = command.configuration.subcommands.map { $0._commandName }
      guard !names.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      guard let index = names.firstIndex(of: word) else {
        // The word may be a URL or a file, for a command that takes one without a subcommand.
        if word.isEmpty || word.contains(where: { ":./".contains($0) }) { return nil }
        let meant = nearest(to: word, of: names) ?? (path.count == 1 ? subcommand(word) : nil)
        let question = meant.map { "; did you mean \"\($0)\"?" } ?? ""
        return "unknown command \"\(word.printable(limit: 100))\"\(question)\n"
          + "hint: \(path.joined(separator: " ")) --help lists the commands"
      }
      command = command.configuration.subcommands[index]
      path.append(word)
    }
    return nil
  }

  /// The full name of the command with a subcommand of this name, if there is one.
  private static func subcommand(_ name: String) -> String? {
    FeedCommand.configuration.subcommands
      .first { $0.configuration.subcommands.contains { $0._commandName == name } }
      .map { "feed \($0._commandName) \(name)" }
  }

  /// The command name that a word misspells, if there is one.
  static func nearest(to word: String, of names: [String]) -> String? {
    let word = word.lowercased()
    if word == "list" || word == "ls", names.contains("show") { return "show" }
    if word.count > 2, let name = names.first(where: { $0.hasPrefix(word) }) { return name }
    let slips = names.map { (name: $0, slips: self.slips(Array(word), Array($0))) }
    guard let best = slips.min(by: { $0.slips < $1.slips }) else { return nil }
    return best.slips <= max(1, best.name.count / 3) ? best.name : nil
  }

  /// The number of letters that are missing, added, replaced, or swapped with their neighbor (optimal string
  /// alignment).
  private static func slips(_ one: [Character], _ other: [Character]) -> Int {
    var (before, last) = ([Int](), Array(0...other.count))
    for row in one.indices {
      var next = [row + 1]
      for column in other.indices {
        let isSame = one[row] == other[column]
        var least = min(last[column + 1] + 1, next[column] + 1, last[column] + (isSame ? 0 : 1))
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      (before, last) = (last, next)
    }
    return last[other.count]
  }
}
