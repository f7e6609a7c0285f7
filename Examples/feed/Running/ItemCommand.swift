import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Runs a command on items, one at a time, and ends the running command when the session is stopped.
///
/// The command gets the item as a line of JSON on its standard input, and in its environment: `FEED_URL`, `FEED_TITLE`,
/// `ITEM_ID`, `ITEM_LINK`, `ITEM_TITLE`, `ITEM_TEXT`, `ITEM_IMAGE`, `ITEM_FEED`, `ITEM_URL`, `ITEM_DESCRIPTION`,
/// `ITEM_LOCATION`, `ITEM_PUBLISHED`. Text from a feed never becomes part of the command.
final class ItemCommand {
  private let words: [String]
  private let loop: EventLoop
  private let console: Console
  /// The running process.
  private var process: RunningSubprocess?
  private var writing: AnyCancellable?
  private var exiting: AnyCancellable?
  private var isStopped = false
  private var whenStopped: (() -> Void)?

  /// - Parameter words: the program, which is searched for in `PATH`, and its arguments.
  init(_ words: [String], on session: Session) {
    self.words = words
    loop = session.loop
    console = session.console
  }

  /// Runs the command on each entry; reports failures, and continues.
  ///
  /// - Parameters:
  ///   - ran: called after the command has ended, unless it was killed.
  ///   - then: called after the last entry.
  func run(_ timeline: FeedTimeline, ran: @escaping (FeedTimeline.Entry) -> Void, then: @escaping () -> Void) {
    run(timeline[...], ran: ran, then: then)
  }

  private func run(
    _ rest: FeedTimeline.SubSequence, ran: @escaping (FeedTimeline.Entry) -> Void, then: @escaping () -> Void
  ) {
    guard let entry = rest.first else { return then() }
    guard !isStopped else { return }
    console.pause()
    start(on: entry) { [self] problem in
      console.resume()
      guard !isStopped else {
        whenStopped.take()?()
        return
      }
      if let problem { console.warn("\(words[0]) \(problem) for the image \(entry.image.url.absoluteString)") }
      ran(entry)
      run(rest.dropFirst(), ran: ran, then: then)
    }
  }

  /// - Parameter ended: receives the failure, or `nil`.
  private func start(on entry: FeedTimeline.Entry, ended: @escaping (String?) -> Void) {
    var command = Subprocess(words[0], Array(words.dropFirst()), environment: Self.environment(of: entry))
    command.standardInput = .pipe
    command.standardOutput = .inherited
    command.endsDescendants = true
    command.leavesDescendants = true
    command.grace = .milliseconds(500)
    do throws(SystemError) {
      let process = try command.start(on: loop)
      self.process = process
      // A command that doesn't read all of its input doesn't delay the next one.
      writing = Just(Chunk(FeedJSON.item(entry, isNew: true) + "\n")).write(to: process.input, atEnd: .closes)
        .sink { _ in
        } receiveValue: { _ in
        }
      exiting = process.exit.sink { [self] status in
        (self.process, writing) = (nil, nil)
        switch status {
        case .exited(0): ended(nil)
        case .exited(let number): ended("exited with status \(number)")
        case .signaled(let number): ended("was killed by signal \(number)")
        }
      }
    } catch {
      loop.schedule { ended("can't be run (\(String(cString: strerror(error.code))))") }
    }
  }

  /// Ends the running command, and starts no other: sends SIGTERM, and SIGKILL half a second later.
  ///
  /// - Parameter then: called when it has ended.
  func stop(then: @escaping () -> Void) {
    isStopped = true
    guard let process else { return loop.schedule { then() } }
    whenStopped = then
    process.cancel()
  }

  /// Kills the running command.
  func kill() { process?.send(SIGKILL) }

  private static func environment(of entry: FeedTimeline.Entry) -> Subprocess.Environment {
    let image = entry.image
    let values = [
      "FEED_URL": entry.address.shown, "FEED_TITLE": entry.name, "ITEM_ID": "\(image.id)",
      "ITEM_URL": image.url.absoluteString, "ITEM_DESCRIPTION": image.description ?? "",
      "ITEM_LINK": image.post.linkText ?? "", "ITEM_TITLE": image.caption ?? "", "ITEM_TEXT": image.text ?? "",
      "ITEM_IMAGE": image.addressText, "ITEM_FEED": entry.name, "ITEM_LOCATION": image.location ?? "",
      "ITEM_PUBLISHED": image.published?.stamp ?? "",
    ]
    .mapValues { value in
      // A variable has at most 128 KiB, and no NUL; the complete text is in the JSON.
      String(value.unicodeScalars.prefix(16_384).filter { $0 != "\0" }.map(Character.init))
    }
    return values.reduce(.inherited) { $0.setting($1.key, to: $1.value) }
  }
}

/// Splits a command into words, as a shell does, but does nothing else that a shell does.
enum CommandWords {
  /// Splits text into words, which are separated by spaces; within `'…'` or `"…"`, or after a backslash, characters
  /// are taken literally. A backslash also removes a line break after it. Within `'…'`, a backslash is literal; within
  /// `"…"`, it is literal except before `$`, `` ` ``, `"`, `\` and a line break.
  static func split(_ text: String) throws -> [String] { try read(text).words }

  private static func read(_ text: String) throws -> (words: [String], syntax: String?) {
    var (words, word): ([String], String?) = ([], nil)
    var syntax: String?
    var quote: Character?
    var characters = text[...]
    while let character = characters.popFirst() {
      switch (character, quote) {
      case ("\\", let open) where open != "'":
        guard let next = characters.popFirst() else { throw ValidationError("--exec ends with a backslash.") }
        // Within double quotes, a backslash is literal, except before these characters.
        if open == "\"", !"$`\"\\".contains(next), !next.isNewline { word = (word ?? "") + "\\" }
        if !next.isNewline { word = (word ?? "") + String(next) }
      case (let mark, let open?) where mark == open: quote = nil
      case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
      case (let space, nil) where space.isWhitespace:
        if let done = word { words.append(done) }
        word = nil
      default:
        if syntax == nil { syntax = Self.syntax(at: character, in: quote, after: word, before: characters) }
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil { throw ValidationError("--exec has an unmatched quote.") }
    if let word { words.append(word) }
    guard let first = words.first, !first.isEmpty else { throw ValidationError("--exec needs a command.") }
    return (words, syntax)
  }

  /// The first part of a command that only a shell acts on; `nil` if there is none. Quoted characters don't count, and
  /// neither do those that programs take, too: `a|b`, `a&b` and `a;b` in a word, `<b>`, `->`, `>=` and `$1`.
  static func shellSyntax(in text: String) throws -> String? {
    let (words, syntax) = try read(text)
    return words.first?.prefixMatch(of: /[A-Za-z_][A-Za-z0-9_]*=/).map { String($0.output) } ?? syntax
  }

  /// The syntax of a shell that begins at a character, which isn't escaped.
  private static func syntax(
    at mark: Character, in quote: Character?, after word: String?, before rest: Substring
  ) -> String? {
    let next = rest.first
    let sign = next == mark ? "\(mark)\(mark)" : "\(mark)"
    switch mark {
    case "`" where quote != "'": return "`"
    case "$" where quote != "'": return next.map { $0.isLetter || "_{(".contains($0) } == true ? "$" : nil
    case _ where quote != nil: return nil
    case "~": return word == nil && (next.map { $0 == "/" || $0.isWhitespace } ?? true) ? "~" : nil
    case "|", "&", ";":
      let isAtEdge = word == nil || next.map(\.isWhitespace) ?? true
      return isAtEdge || next == mark ? sign : nil
    case "<", ">":
      let number = word.flatMap { $0.count == 1 && $0.first?.isNumber == true ? $0 : nil }
      let isOther =
        mark == "<"
        ? word != number || rest.prefix { !$0.isWhitespace }.contains(">")
        : next == "=" || word?.contains("<") == true || word?.hasSuffix("-") == true || word?.hasSuffix("=") == true
      return isOther ? nil : (number ?? "") + sign
    default: return nil
    }
  }
}
