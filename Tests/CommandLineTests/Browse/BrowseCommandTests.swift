import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

@Suite(.settled, .timeLimit(.minutes(5))) struct BrowseCommandTests {
  /// A terminal in which `feed` runs: its contents, and whether it waits for whole lines.
  final class Screen {
    private var keyboard: Int32 = -1
    private var screen: Int32 = -1
    let path: String
    private(set) var text = ""

    init() throws {
      var name = [CChar](repeating: 0, count: 256)
      var size = winsize(ws_row: 16, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
      try #require(openpty(&keyboard, &screen, &name, nil, &size) == 0)
      for descriptor in [keyboard, screen] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(keyboard, F_SETFL, O_NONBLOCK)
      path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
      close(keyboard)
      close(screen)
    }

    /// Runs `feed` in a new session with this terminal as its controlling terminal.
    func run(_ arguments: String) throws -> RunningFeed { try start("\(FeedBinary.path) \(arguments)") }

    /// Runs `feed` as a job of a shell, and then other commands when the job is suspended.
    func run(_ arguments: String, then commands: String) throws -> RunningFeed {
      try start("/bin/sh -c 'set -m; \(FeedBinary.path) \(arguments); \(commands)'")
    }

    private func start(_ command: String) throws -> RunningFeed {
      try RunningFeed(
        program: "/bin/sh", ["-c", "exec setsid --ctty \(command) < \(path) > \(path)"],
        environment: ["TERM": "xterm", "COLORTERM": "truecolor", "SWIFT_BACKTRACE": "enable=no"])
    }

    func type(_ text: String) { _ = write(keyboard, text, text.utf8.count) }

    func read() {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = Foundation.read(keyboard, &bytes, bytes.count)
      if count > 0 { text += String(decoding: bytes.prefix(count), as: UTF8.self) }
    }

    /// Waits until the terminal shows a text.
    func shows(_ what: String) async throws {
      while !text.contains(what) {
        read()
        try await Task.sleep(for: .milliseconds(5))
      }
    }

    var isCooked: Bool {
      var mode = termios()
      return tcgetattr(screen, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) != 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }
  }

  /// The bytes that turn off mouse reports and restore the screen.
  private static let quiet = "\u{1B}[?1006l\u{1B}[?1000l"
  private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"

  private func browse(
    ending: Int32, _ body: (Screen, RunningFeed) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["first", "second"])
      let screen = try Screen()
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try screen.run("browse \(url) --cache \(cache)")
      try await screen.shows("\u{1B}[c")
      #expect(!screen.isCooked)
      screen.type("\u{1B}[?62;22c")
      try await screen.shows("first")
      try await screen.shows("a web page")
      try await body(screen, run)
      #expect(await run.status() == ending)
      try await screen.shows(Self.quiet)
      try await screen.shows(Self.leaving)
      #expect(screen.isCooked)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `browse shows images in a real terminal, and q restores the terminal`() async throws {
    try await browse(ending: 0) { screen, _ in screen.type("q") }
  }

  @Test(arguments: [["--verbose"], ["--log-format", "json", "--verbose"]])
  func `browse reports its requests in a file, but not on its own screen`(options: [String]) async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["first"])
      let screen = try Screen()
      let command = (["browse", url, "--cache", folder.appendingPathComponent("feeds.db").path] + options)
        .joined(separator: " ")
      let other = try Screen()
      #expect(await (try other.run("\(command) 2> \(other.path)")).status() == 64)
      let run = try screen.run(command)
      try await screen.shows("\u{1B}[c")
      screen.type("\u{1B}[?62;22c")
      try await screen.shows("first")
      #expect(await run.errors.read(upTo: "request") != nil)
      run.send(SIGTERM)
      #expect(await run.status() == 128 + SIGTERM)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test(arguments: Sanitizer.leaves([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT]).compactMap { $0 })
  func `the terminal is restored, whatever signal ends the program`(_ signal: Int32) async throws {
    // A program that doesn't lead a process group can become the leader of a session without another process.
    try await browse(ending: 128 + signal) { _, run in run.send(signal) }
  }

  @Test func `even after SIGKILL, the terminal is restored`() async throws {
    try await browse(ending: 128 + SIGKILL) { screen, run in
      run.send(SIGKILL)
      while !screen.isCooked { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `a signal ends a suspended browse, and leaves the shell's terminal as it is`(_ signal: Int32) async throws {
    try await withFolder { folder in
      let screen = try Screen()
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try screen.run(
        "browse http://127.0.0.1:1/ --cache \(cache)",
        then: "kill -\(signal) %1; bg %1; wait %1; echo with status $? it ended")
      try await screen.shows("\u{1B}[c")
      screen.type("\u{1B}[?62;22c\u{1A}")
      try await screen.shows("it ended")
      #expect(screen.text.contains("with status \(128 + signal) it ended"))
      #expect(screen.text.components(separatedBy: Self.leaving).count == 2)
      #expect(screen.isCooked)
      #expect(await run.status() == 0)
    }
  }

  @Test func `SIGKILL of a suspended browse leaves the shell's screen as it is`() async throws {
    try await withFolder { folder in
      let screen = try Screen()
      let cache = folder.appendingPathComponent("feeds.db").path
      let job = folder.appendingPathComponent("job").path
      // As an interactive shell does, change the terminal's mode. Then wait for the killed process's helpers.
      let run = try screen.run(
        "browse http://127.0.0.1:1/ --cache \(cache)",
        then: "jobs -p > \(job); read pid < \(job); helpers=$(cat /proc/$pid/task/*/children); "
          + "stty -icanon -echo; kill -KILL $pid; "
          + "for helper in $helpers; do while grep -qs . /proc/$helper/cmdline; do :; done; done; "
          + "stty icanon echo; echo it has ended")
      try await screen.shows("\u{1B}[c")
      screen.type("\u{1B}[?62;22c\u{1A}")
      try await screen.shows("it has ended")
      #expect(screen.text.components(separatedBy: Self.leaving).count == 2)
      #expect(await run.status() == 0)
    }
  }

  @Test func `even SIGKILL after a suspension restores the screen`() async throws {
    try await withFolder { folder in
      let screen = try Screen()
      let cache = folder.appendingPathComponent("feeds.db").path
      let job = folder.appendingPathComponent("job").path
      let run = try screen.run(
        "browse http://127.0.0.1:1/ --cache \(cache)", then: "jobs -p > \(job); fg; echo with status $? it ended")
      try await screen.shows("\u{1B}[c")
      screen.type("\u{1B}[?62;22c\u{1A}")
      func parts(_ text: String) -> Int { screen.text.components(separatedBy: text).count }
      while parts("\u{1B}[?1049h") < 3 {
        screen.read()
        try await Task.sleep(for: .milliseconds(5))
      }
      let number = try String(contentsOfFile: job, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
      let pid = try #require(pid_t(number))
      kill(pid, SIGKILL)
      try await screen.shows("with status \(128 + SIGKILL) it ended")
      while parts(Self.leaving) < 3 {
        screen.read()
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(await run.status() == 0)
    }
  }

  @Test func `output that isn't a terminal is refused`() async throws {
    let run = try await FeedBinary.run(["browse", "http://127.0.0.1:1/"])
    #expect(run.status == 64)
    #expect(run.errors.contains("feed load --images always"))
  }
}
