import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed`: shows image feeds in the terminal, from their servers, or from the cache if the servers can't be reached.
@main
struct FeedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "Show image feeds from their servers or, if the servers fail, from the cache.",
    discussion: """
      feed https://example.com/blog                 one feed, or the feed of a web page
      feed load https://a.example https://b.example several feeds, as one list
      feed load https://example.com/blog --pages 5  up to five pages of one feed
      feed browse https://example.com/blog          browse its images in the terminal
      feed subscriptions import my.opml             add feeds to your list
      feed watch --every 15m --new                  show new images in the list
      feed watch --every 15m --exec ./notify        run a command for each new image
      feed search lighthouse                        find items seen before
      feed inspect https://example.com/feed.xml     find out why there is no image

      Exit status: 0 for success, 1 for an error or if there was nothing to show, 64 for an invalid command line, 129 \
      if the terminal was closed, 130 if interrupted (Ctrl-C), 141 if standard output was closed, 143 if terminated. \
      On a second signal, the command exits without waiting for saves to complete.
      """,
    version: "feed 0.1.0",
    subcommands: [
      LoadCommand.self, BrowseCommand.self, WatchCommand.self, ServeCommand.self, SearchCommand.self, StarCommand.self,
      SubscriptionsCommand.self,
      WorkCommand.self, FleetCommand.self, StoreCommand.self, InspectCommand.self, ExplainCommand.self, GetCommand.self,
      CacheCommand.self, DemoCommand.self,
    ])
}

extension FeedCommand {
  static func main() {
    // These warnings are for developers of the command, not for users of a debug build.
    if ProcessInfo.processInfo.environment["FEEDSTREAM_WARNINGS"] == nil { StreamDiagnostics.writeWarnings(false) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    HiddenArguments.hide()
    if HelpScreen.isAsked(arguments) {
      printAndExit(HelpScreen.text + "\n")
    }
    do {
      let arguments = completed(arguments)
      if let message = UnknownCommand.message(arguments) { end(with: message, status: .validationFailure) }
      var command: any ParsableCommand
      do {
        command = try QuickArguments.command(arguments) ?? parseAsRoot(arguments)
      } catch {
        if exitCode(for: error) == .validationFailure, let unknown = UnknownOption(in: arguments) {
          endWithUsage(unknown.message, of: unknown.command)
        }
        throw error
      }
      do {
        try command.run()
      } catch let error as ValidationError {
        endWithUsage(error.message, of: type(of: command))
      }
    } catch {
      end(with: error)
    }
  }

  /// Completes `feed <url>` to `feed load <url>`, even with options before or instead of the URL. For an argument that
  /// may be a URL without its scheme, `load` gives advice.
  static func completed(_ arguments: [String]) -> [String] {
    // Other programs show their version with `-v` alone; `load`'s `-v` comes with other words.
    guard let first = arguments.first, arguments != ["-v"] else { return arguments }
    let isLoad =
      first.hasPrefix("-")
      ? arguments.contains { $0.contains("://") } || !isOfProgram(first) && !hasCommand(arguments)
      : first.contains { $0 == ":" || $0 == "." || $0 == "/" }
    return isLoad ? ["load"] + arguments : arguments
  }

  /// True for the options of the program itself; completion scripts use `---completion`.
  private static func isOfProgram(_ option: String) -> Bool {
    option.hasPrefix("---") || UnknownOption.ofParser.contains(String(option.prefix { $0 != "=" }))
  }

  /// True if one of the words is a command, and isn't the value of an option of `load`.
  private static func hasCommand(_ words: [String]) -> Bool {
    let names = ["help"] + configuration.subcommands.map { $0._commandName }
    guard words.contains(where: { names.contains($0) }) else { return false }
    let options = UnknownOption.options(of: LoadCommand.self)
    return zip([""] + words, words).contains { before, word in
      names.contains(word) && !options.contains { $0.name == before && $0.takesValue }
    }
  }

  /// Ends the program with an error that is written in the same way as the parser writes its own.
  private static func endWithUsage(_ message: String, of command: any ParsableCommand.Type) -> Never {
    let usage = "Usage: \(usageString(for: command))"
    let name = usage.split(separator: " ").dropFirst().prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }
    let more = "See '\(name.joined(separator: " ")) --help' for more information."
    end(with: "\(message)\n\(usage)\n  \(more)", status: .validationFailure)
  }

  /// Like `exit(withError:)`, but escapes quoted arguments and hides passwords.
  private static func end(with error: any Error) -> Never {
    let status = exitCode(for: error)
    var message = fullMessage(for: error)
    if status.isSuccess { printAndExit(message.isEmpty ? "" : message + "\n") }
    message = message.replacing(/Value to be set with flag '(.+?)' had already been set with flag '(.+?)'/) { flags in
      "\(flags.2) can't be combined with \(flags.1)."
    }
    if case SubscriptionFileError.notAList(let path, _) = error,
      path == SubscriptionFile(path: SubscriptionPlace.path()).path
    {
      message += "\nhint: restore your list from a copy or, to start a new one, rename or delete this file"
    }
    end(with: message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message, status: status)
  }

  /// Ends the program. The message, if there is one, begins with the program's name.
  private static func end(with message: String, status: ExitCode) -> Never {
    let lines = hidingPasswordsOfArguments(in: message).split(separator: "\n", omittingEmptySubsequences: false)
    let text = lines.map { Self.hidingPasswords(in: String($0)).printable }.joined(separator: "\n")
    // Ignore a failed write: standard error may have been closed.
    if !text.isEmpty { try? FileHandle.standardError.write(contentsOf: Data("feed: \(text)\n".utf8)) }
    Foundation.exit(status.rawValue)
  }

  /// Prints text, and exits with status 0 unless writing to standard output fails.
  private static func printAndExit(_ text: String) -> Never {
    do {
      try StandardOutput.write(text)
    } catch {
      Foundation.exit(exitCode(for: error).rawValue)
    }
    Foundation.exit(EXIT_SUCCESS)
  }

  /// Replaces possible passwords in arguments that are quoted in a message.
  private static func hidingPasswordsOfArguments(in message: String) -> String {
    CommandLine.arguments.dropFirst().reduce(message) { text, argument in
      // The parser quotes only the value of `--option=value`.
      let isOption = argument.hasPrefix("--") && argument.contains("=")
      let value = isOption ? String(argument.drop { $0 != "=" }.dropFirst()) : argument
      let hidden = value.withoutPossiblePassword
      return hidden == value ? text : text.replacingOccurrences(of: value, with: hidden)
    }
  }

  /// Replaces possible passwords with an ellipsis. In a store's URL, that is everything before the last `@`, because a
  /// password may contain an unescaped slash, and the user may be missing.
  private static func hidingPasswords(in line: String) -> String {
    line.replacing(Self.storeLogin.ignoresCase()) { "\($0.1)…@" }
      .replacing(/([?&](?:pass|pw|secret)\w*=)[^\s&']*/.ignoresCase()) { "\($0.1)…" }
      .replacing(/(:\/\/[^\/@\s:\[]*):(?!PASSWORD@)[^\/@\s]*@/) { "\($0.1):…@" }
  }

  /// Matches the login in a store's URL, except for one in brackets or capitals, and `rediss://… for TLS`, which are
  /// parts of usage messages.
  private static var storeLogin: Regex<(Substring, Substring)> {
    /((?:rediss?|unix|redis\+\w+|redis-socket):\/\/)(?!\[|…|:PASSWORD@|USER:PASSWORD@)[^']*@/
  }
}
