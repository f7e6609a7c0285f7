import ArgumentParser
import PlainText

/// An unknown option. The parser would take its value for an argument, and report that argument instead of the option.
struct UnknownOption {
  let message: String
  /// The command that doesn't have the option.
  let command: any ParsableCommand.Type

  /// The parser's own options.
  static let ofParser = [
    "--version", "--help", "-help", "-h", "--help-hidden", "--generate-completion-script", "--experimental-dump-help",
  ]

  /// - Returns: `nil` if all options are known.
  init?(in arguments: [String]) {
    let path = Self.commands(of: arguments)
    command = path[path.count - 1]
    let options = path.flatMap(Self.options)
    let names = Self.ofParser + options.map(\.name)
    var before = ""
    for word in arguments.prefix(while: { $0 != "--" }) {
      defer { before = word }
      let name = String(word.prefix { $0 != "=" })
      // The parser reports an option without its value.
      let isMissing = options.contains { $0.name == before && $0.takesValue }
      guard !isMissing, name.hasPrefix("-"), name.first(where: { $0 != "-" })?.isLetter == true,
        !names.contains(name), !Self.isOfLetters(name, names)
      else { continue }
      let long = options.map(\.name).filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
      let meant = UnknownCommand.nearest(to: String(name.drop { $0 == "-" }), of: long)
      // Text after a short option may be its value, such as a password for curl's `-u`.
      let shown = name.hasPrefix("--") ? name : name.dropFirst().first { !names.contains("-\($0)") }.map { "-\($0)" }
      let advice = path.count == 1 ? " Write options after the command." : ""
      message =
        "Unknown option '\((shown ?? name).printable(limit: 100))'."
        + (meant.map { " Did you mean '--\($0)'?" } ?? advice)
      return
    }
    return nil
  }

  /// True for short options that are written together.
  private static func isOfLetters(_ word: String, _ names: [String]) -> Bool {
    !word.hasPrefix("--") && word.dropFirst().allSatisfy { names.contains("-\($0)") }
  }

  /// The commands that the arguments name, from the program to the command that would run.
  private static func commands(of arguments: [String]) -> [any ParsableCommand.Type] {
    var path: [any ParsableCommand.Type] = []
    var next: (any ParsableCommand.Type)? = FeedCommand.self
    var words = arguments[...]
    while let command = next {
      path.append(command)
      let word = words.popFirst()
      next =
        command.configuration.subcommands.first { $0._commandName == word } ?? command.configuration.defaultSubcommand
    }
    return path
  }

  /// The options of a command, from its help: the parser gives no other access to them.
  static func options(of command: any ParsableCommand.Type) -> [(name: String, takesValue: Bool)] {
    let help = FeedCommand.helpMessage(for: command, includeHidden: true)
    return help.split(separator: "\n").flatMap { line -> [(name: String, takesValue: Bool)] in
      guard let label = line.prefixMatch(of: /[ ]{2}(-[-A-Za-z0-9]+(?:(?:, |\/)-[-A-Za-z0-9]+)*)( <)?/) else {
        return []
      }
      return label.1.split { ", /".contains($0) }.map { (name: String($0), takesValue: label.2 != nil) }
    }
  }
}
