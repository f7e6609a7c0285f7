import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText
import Synchronization

/// Runs a command on items, one at a time, and kills the one that runs when the session is stopped.
///
/// The item is a line of JSON on the command's standard input, and in its environment: `FEED_URL`, `FEED_TITLE`, `ITEM_ID`,
/// `ITEM_LINK`, `ITEM_TITLE`, `ITEM_TEXT`, `ITEM_IMAGE`, `ITEM_FEED`, `ITEM_URL`, `ITEM_DESCRIPTION`, `ITEM_LOCATION`,
/// `ITEM_PUBLISHED`. No text of a feed is ever a part of the command.
final class ItemCommand {
  /// The process that runs; used by the thread that waits for it and by the loop.
  fileprivate final class Running: Sendable {
    struct State {
      var process: pid_t = 0
      var isStopped = false
    }
    let state = Mutex(State())
  }

  private let words: [String]
  private let worker: SerialWorker
  private let loop: EventLoop
  private let console: Console
  private let running = Running()

  /// - Parameter words: the program, looked for in `PATH`, and its arguments.
  init(_ words: [String], on session: Session) {
    self.words = words
    loop = session.loop
    console = session.console
    worker = SerialWorker(on: session.loop)
  }

  /// Runs the command on each entry; reports how it failed, and goes on.
  ///
  /// - Parameters:
  ///   - ran: is called after the command has ended, unless it was killed.
  ///   - then: is called when all is done.
  func run(_ timeline: FeedTimeline, ran: @escaping (FeedTimeline.Entry) -> Void, then: @escaping () -> Void) {
    run(timeline[...], ran: ran, then: then)
  }

  private func run(
    _ rest: FeedTimeline.SubSequence, ran: @escaping (FeedTimeline.Entry) -> Void, then: @escaping () -> Void
  ) {
    guard let entry = rest.first else { return then() }
    console.pause()
    let (words, running) = (words, running)
    worker.perform {
      running.run(words, on: entry)
    } completion: { [self] (result: Result<ItemCommandEnd, Never>) in
      console.resume()
      let end = result.get()
      if end == .killed { return }
      if let problem = end.problem {
        console.warn("\(words[0]) \(problem), for \(entry.image.url.absoluteString)")
      }
      ran(entry)
      run(rest.dropFirst(), ran: ran, then: then)
    }
  }

  /// Ends the command that runs, kindly, and half a second later by force; starts no other.
  ///
  /// - Parameter then: is called when it has ended.
  func stop(then: @escaping () -> Void) {
    running.stop(SIGTERM)
    loop.schedule(after: loop.now.advanced(by: .milliseconds(500))) { [running] in running.stop(SIGKILL) }
    worker.perform({}, completion: { (_: Result<Void, Never>) in then() })
  }

  /// Ends the command that runs by force.
  func kill() { running.stop(SIGKILL) }
}

/// How a command ended.
enum ItemCommandEnd: Equatable, Sendable {
  case exited(Int32)
  case signalled(Int32)
  /// It could not be started: the system's error number.
  case notStarted(Int32)
  /// The session was stopped.
  case killed

  /// `nil` for success.
  var problem: String? {
    switch self {
    case .exited(0), .killed: nil
    case .exited(let status): "ended with status \(status)"
    case .signalled(let number): "was ended by signal \(number)"
    case .notStarted(let code): "cannot be run (\(String(cString: strerror(code))))"
    }
  }
}

extension ItemCommand.Running {
  /// Signals the process and those that it has started.
  func stop(_ signal: Int32) {
    state.withLock { state in
      state.isStopped = true
      if state.process > 0 { _ = Foundation.kill(-state.process, signal) }
    }
  }

  /// Blocks until the command has ended.
  func run(_ words: [String], on entry: FeedTimeline.Entry) -> ItemCommandEnd {
    // A file, not a pipe: a command that does not read keeps nobody waiting.
    guard let input = tmpfile() else { return .notStarted(errno) }
    defer { fclose(input) }
    let json = FeedJSON.item(entry, isNew: true) + "\n"
    fputs(json, input)
    fflush(input)
    rewind(input)
    var process: pid_t = 0
    let code = state.withLock { state -> Int32? in
      guard !state.isStopped else { return nil }
      let code = Self.spawn(words, input: fileno(input), environment: Self.environment(of: entry), &process)
      if code == 0 { state.process = process }
      return code
    }
    guard let code else { return .killed }
    guard code == 0 else { return .notStarted(code) }
    // Without reaping it: until its number is forgotten here, nobody else may get it.
    var info = siginfo_t()
    while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
    return state.withLock { state in
      var status: Int32 = 0
      while waitpid(process, &status, 0) == -1, errno == EINTR {}
      state.process = 0
      if state.isStopped { return .killed }
      return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
  }

  /// - Returns: the system's error number, or 0.
  private static func spawn(
    _ words: [String], input: Int32, environment: [String], _ process: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    closeOthersOnExecution()
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What the session ignores, the command does not.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    let arguments = words.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    return posix_spawnp(&process, arguments[0]!, &actions, &attributes, arguments, variables)
  }

  /// The command gets no descriptors of ours, whoever opened them.
  private static func closeOthersOnExecution() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? [] {
      guard let descriptor = Int32(name), descriptor > STDERR_FILENO else { continue }
      let flags = fcntl(descriptor, F_GETFD)
      if flags != -1 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }

  private static func environment(of entry: FeedTimeline.Entry) -> [String] {
    let image = entry.image
    let values = [
      "FEED_URL": entry.address.shown, "FEED_TITLE": entry.name, "ITEM_ID": "\(image.id)",
      "ITEM_URL": image.url.absoluteString, "ITEM_DESCRIPTION": image.description ?? "",
      "ITEM_LINK": image.post.linkText ?? "", "ITEM_TITLE": image.caption ?? "", "ITEM_TEXT": image.text ?? "",
      "ITEM_IMAGE": image.addressText, "ITEM_FEED": entry.name, "ITEM_LOCATION": image.location ?? "",
      "ITEM_PUBLISHED": image.published?.stamp ?? "",
    ]
    .mapValues { value in
      // One variable has at most 128 KiB, and no zero; the whole text is in the JSON.
      String(value.unicodeScalars.prefix(16_384).filter { $0 != "\0" }.map(Character.init))
    }
    return ProcessInfo.processInfo.environment.merging(values) { $1 }.map { "\($0.key)=\($0.value)" }
  }
}

/// Splits a command into its words as a shell does, without anything else that a shell does.
enum CommandWords {
  /// Words are separated by spaces; `'…'`, `"…"` and a backslash keep what is in them or follows as it is.
  static func split(_ text: String) throws -> [String] {
    var (words, word): ([String], String?) = ([], nil)
    var quote: Character?
    var characters = text[...]
    while let character = characters.popFirst() {
      switch (character, quote) {
      case ("\\", let open) where open != "'":
        guard let next = characters.popFirst() else { throw ValidationError("--exec ends with a backslash.") }
        word = (word ?? "") + String(next)
      case (let mark, let open?) where mark == open: quote = nil
      case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
      case (let space, nil) where space.isWhitespace:
        if let done = word { words.append(done) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if quote != nil { throw ValidationError("--exec has an unmatched quote.") }
    if let word { words.append(word) }
    guard let first = words.first, !first.isEmpty else { throw ValidationError("--exec needs a command.") }
    return words
  }
}
