import FeedStream
import Foundation
import TestSupport
import Testing

/// The examples of `Examples/Handles`, run as programs.
@Suite(.settled, .timeLimit(.minutes(5))) struct HandlesExampleTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()
  private let binary = FeedBinary.path(of: "Handles")

  private func example(_ arguments: String...) -> Subprocess {
    var subprocess = Subprocess(binary, arguments)
    subprocess.standardErrors = .pipe
    return subprocess
  }

  /// Runs a line of a shell in which `$H` is the program.
  private func shell(_ script: String) -> Outcome<Chunk, SubprocessError> {
    var subprocess = Subprocess("/bin/sh", ["-c", script], environment: .inherited.setting("H", to: binary))
    subprocess.standardErrors = .pipe
    return Outcome(subprocess.output(on: loop))
  }

  private func run(_ script: String) -> Outcome<Chunk, SubprocessError> {
    let outcome = shell(script)
    loop.run()
    return outcome
  }

  /// The port that an example prints for its server.
  private func port(of outcome: Outcome<Chunk, SubprocessError>) throws -> Int {
    loop.run { outcome.text.contains("\n") }
    let line = try #require(outcome.text.split(separator: "\n").first)
    return try #require(Int(line.split(separator: ":").last!))
  }

  /// The bytes that a client receives after it has written these texts.
  private func client(_ port: Int, _ texts: [String]) -> Outcome<Chunk, any Error> {
    Outcome(
      Connection.connect(to: "127.0.0.1:\(port)", on: loop).eraseFailureType()
        .flatMap { connection in
          let writing = texts.publisher.map { Chunk($0) }.write(to: connection, atEnd: .endsWriting)
            .eraseFailureType().map { (_: Never) -> Chunk in }
          return connection.bytes.eraseFailureType().merge(with: writing)
        })
  }

  private func end(_ outcomes: Outcome<Chunk, SubprocessError>...) {
    for outcome in outcomes { outcome.cancel() }
    loop.run()
  }

  @Test func `a task of the main actor can await values while the loop runs on the main thread`() {
    #expect(run("$H await one two").text == "one\ntwo\ndone\n")
  }

  @Test func `run() doesn't return before values on their way have arrived`() {
    let outcome = run("$H cross a b")
    #expect(
      outcome.text.split(separator: "\n").sorted() == [
        "concurrent queue: a b", "delayed on a queue: a b", "delayed on the run loop: a b", "main queue: a b",
        "main run loop: a b", "task: a", "task: b", "timer of the run loop: tick tick", "two queues: a b",
      ])
  }

  @Test func `the tail example prints a file and what is appended to it`() {
    folder.write("one\n", to: "log")
    let outcome = Outcome(example("tail", folder("log")).output(on: loop))
    loop.run { outcome.text == "one\n" }
    folder.append("two\n", to: "log")
    loop.run { outcome.text == "one\ntwo\n" }
    #expect(outcome.text == "one\ntwo\n")
    end(outcome)
  }

  @Test func `the echo example returns what it receives`() throws {
    let server = Outcome(example("echo", "0").output(on: loop))
    let port = try port(of: server)
    let clients = (0..<3).map { client(port, ["hello ", "\($0)"]) }
    loop.run { clients.allSatisfy { $0.completion != nil } }
    #expect(clients.map(\.text) == ["hello 0", "hello 1", "hello 2"])
    end(server)
  }

  @Test func `the echo example continues when descriptors are available again`() throws {
    var subprocess = example("echo", "0")
    subprocess.limits.openFiles = 24
    let server = Outcome(subprocess.output(on: loop))
    let port = try port(of: server)
    var held: [Connection] = []
    let crowd = (0..<40).map { _ in
      Outcome(Connection.connect(to: "127.0.0.1:\(port)", on: loop), onValue: { held.append($0) })
    }
    loop.run { crowd.allSatisfy { $0.completion != nil } }
    loop.run(for: .milliseconds(100))
    held = []
    for outcome in crowd { outcome.values = [] }
    loop.run(for: .milliseconds(100))
    let late = client(port, ["late"])
    loop.run { late.completion != nil }
    #expect(late.text == "late")
    #expect(server.completion == nil)
    end(server)
  }

  @Test func `the chat example sends each line to all clients`() throws {
    let server = Outcome(example("chat", "0").output(on: loop))
    let port = try port(of: server)
    let listening = Outcome(
      Connection.connect(to: "127.0.0.1:\(port)", on: loop).flatMap { $0.bytes })
    loop.run(for: .milliseconds(100))
    let speaking = client(port, ["hi\n"])
    loop.run { listening.text.contains(": hi\n") && listening.text.contains("went\n") }
    #expect(listening.text.contains("came\n"))
    #expect(listening.text.contains(": hi\n"))
    #expect(listening.text.contains("went\n"))
    for client in [speaking] { client.cancel() }
    listening.cancel()
    end(server)
  }

  @Test func `the find-process example pipes one program's output into another`() {
    let outcome = run("exec \"$H\" find-process 'find-process [f]'; true")
    #expect(outcome.error == nil)
    let own = run("exec \"$H\" find-process 'Handles find-process'")
    #expect(own.text.contains("Handles find-process"))
  }

  @Test func `the rebuild example restarts the command on a change, and ends the old one with its children`() {
    let command = "sleep 100 & echo $!; wait"
    let outcome = Outcome(example("rebuild", folder.path, "sh", "-c", command).output(on: loop))
    loop.run { outcome.text.hasSuffix("\n") }
    loop.run(for: .milliseconds(100))
    folder.write("x", to: "source")
    loop.run { outcome.text.split(separator: "\n").count == 2 }
    let started = outcome.text.split(separator: "\n")
    #expect(started.count == 2)
    end(outcome)
    // These processes have no parent here by now, so the system may take a while to clean them up.
    func runs(_ number: Substring) -> Bool {
      (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8))?.contains(") S") == true
    }
    loop.run { !started.contains(where: runs) }
    #expect(!started.contains(where: runs))
  }

  // MARK: Standard input

  private let lines =
    #"{"level":"error","message":"a"}\n{"level":"info","message":"b"}\n{"level":"error","message":"c"}\n"#

  private func messages(_ outcome: Outcome<Chunk, SubprocessError>) -> [String] {
    outcome.text.matches(of: /"message":"(\w)"/).map { String($0.1) }
  }

  @Test(.timeLimit(.minutes(5)))
  func `standard input may be a named pipe without a writer, but not a folder or a write end`() {
    // The writer has ended before the program begins to read.
    let command = "mkfifo '\(folder("fifo"))'; (printf '%b' '\(lines)' > '\(folder("fifo"))' &)"
    let named = run("\(command); exec 3< '\(folder("fifo"))'; sleep 0.2; \"$H\" json-filter error <&3")
    #expect(messages(named) == ["a", "c"])
    #expect(named.error == nil)
    let directory = run("\"$H\" json-filter error < '\(folder.path)' 2>&1")
    #expect(directory.text == "cannot read standard input: illegal operation on a directory (EISDIR)\n")
    // The program's standard input and standard output are the same end of a pipe.
    let written = run("{ \"$H\" json-filter error <&1 2>&3 | cat; } 3>&1")
    #expect(written.text == "cannot read standard input: bad file descriptor (EBADF)\n")
  }

  @Test func `standard input may be a pipe, a file, a device or closed`() {
    folder.write(lines.replacing("\\n", with: "\n"), to: "events")
    let piped = run("printf '%b' '\(lines)' | \"$H\" json-filter error")
    #expect(messages(piped) == ["a", "c"])
    let file = run("\"$H\" json-filter error < '\(folder("events"))'")
    #expect(messages(file) == ["a", "c"])
    for script in [
      "\"$H\" json-filter error < /dev/null", "\"$H\" json-filter error <&-", ": | \"$H\" json-filter error",
    ] {
      let empty = run(script)
      #expect(empty.text == "")
      #expect(empty.isFinished, "\(script): \(String(describing: empty.error))")
    }
    let wrong = run("echo '[' | \"$H\" json-filter error")
    #expect(wrong.error?.description.contains("line 1") == true)
  }

  @Test func `standard output may be a file, a device, closed or a broken pipe`() {
    let file = folder("out")
    #expect(run("printf '%b' '\(lines)' | \"$H\" json-filter info > '\(file)'").isFinished)
    #expect(folder.text("out")?.contains("\"b\"") == true)
    #expect(run("printf '%b' '\(lines)' | \"$H\" json-filter info > /dev/null").isFinished)
    #expect(
      run("printf '%b' '\(lines)' | \"$H\" json-filter info > /dev/full").error?.description.contains("ENOSPC") == true)
    #expect(run("printf '%b' '\(lines)' | \"$H\" json-filter info >&-").error?.description.contains("EBADF") == true)
    // When the reader ends, the program reports an error, and no signal kills it.
    let left = run("(sleep 0.3; printf '%b' '\(lines)') | { \"$H\" json-filter info; echo $? >&2; } | true")
    #expect(left.isFinished)
  }

  /// A terminal with its path, and functions that type into it.
  private final class Typist {
    private(set) var keyboard: Int32 = -1
    private(set) var screen: Int32 = -1
    let path: String

    init() throws {
      var name = [CChar](repeating: 0, count: 256)
      try #require(openpty(&keyboard, &screen, &name, nil, nil) == 0)
      for descriptor in [keyboard, screen] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
      close(keyboard)
      close(screen)
    }

    func type(_ text: String) { _ = write(keyboard, text, text.utf8.count) }

    /// The output on the terminal.
    var shown: String {
      _ = fcntl(keyboard, F_SETFL, O_NONBLOCK)
      var bytes = [UInt8](repeating: 0, count: 1000)
      let count = read(keyboard, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    /// True when the terminal waits for whole lines.
    var isCooked: Bool {
      var mode = termios()
      return tcgetattr(screen, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) != 0
    }
  }

  @Test func `standard input may be a terminal`() throws {
    let typist = try Typist()
    let outcome = shell("exec \"$H\" json-filter error < \(typist.path)")
    typist.type(lines.replacing("\\n", with: "\n"))
    loop.run { messages(outcome) == ["a", "c"] }
    #expect(messages(outcome) == ["a", "c"])
    typist.type("\u{4}")
    loop.run()
    #expect(outcome.isFinished)
  }

  @Test(arguments: Sanitizer.leaves([nil, SIGTERM, SIGINT, SIGSEGV, SIGABRT]))
  func `keys are delivered as they are pressed, and the terminal is restored, even after a crash`(_ signal: Int32?)
    throws
  {
    let typist = try Typist()
    var subprocess = Subprocess(
      "/bin/sh", ["-c", "exec \"$H\" keys < \(typist.path)"],
      environment: .inherited.setting("H", to: binary).setting("SWIFT_BACKTRACE", to: "enable=no"))
    subprocess.standardErrors = .null
    let child = try subprocess.start(on: loop)
    let (output, exit) = (Outcome(child.output), Outcome(child.exit))
    loop.run { output.text.contains("ready") && !typist.isCooked }
    #expect(!typist.isCooked)
    typist.type("\u{1B}[Aü")
    loop.run { output.text.contains("ü") }
    #expect(output.text == "\u{1B}[?25lready\r\nup\r\ncharacter(\"ü\")\r\n")
    if let signal { child.send(signal) } else { typist.type("q") }
    loop.run { !exit.values.isEmpty }
    #expect(exit.values == [signal.map { .signaled($0) } ?? .exited(0)])
    #expect(typist.isCooked)
    #expect(typist.shown == "\u{1B}[?25h")
    loop.run()
  }

  @Test func `the proxy example forwards all bytes, within its rate limit`() throws {
    let (server, content) = (Outcome(example("echo", "0").output(on: loop)), String(repeating: "x", count: 3_000))
    let target = try port(of: server)
    let proxy = Outcome(example("proxy", "0", "127.0.0.1:\(target)", "10000").output(on: loop))
    let place = try port(of: proxy)
    let begun = loop.now
    let client = client(place, [content])
    loop.run { client.completion != nil }
    #expect(client.text == content)
    // Three thousand bytes at ten thousand per second; the first and the last chunk need not wait.
    #expect(begun.distance(to: loop.now) > .milliseconds(200))
    end(server, proxy)
  }

  @Test func `the proxy example passes on a request whose client waits for the response`() throws {
    let server = Outcome(example("echo", "0").output(on: loop))
    let target = try port(of: server)
    let proxy = Outcome(example("proxy", "0", "127.0.0.1:\(target)", "100000").output(on: loop))
    let place = try port(of: proxy)
    let request = "GET / HTTP/1.1\r\n\r\n"
    let heard = Outcome(
      Connection.connect(to: "127.0.0.1:\(place)", on: loop).eraseFailureType()
        .flatMap { connection in
          // The connection stays open in both directions.
          let asking = Just(Chunk(request)).write(to: connection).eraseFailureType().map { (_: Never) -> Chunk in }
          return connection.bytes.eraseFailureType().merge(with: asking)
        })
    loop.run { heard.text == request }
    #expect(heard.text == request)
    heard.cancel()
    end(server, proxy)
  }

  @Test func `the proxy example closes the server's connection when the client breaks off`() throws {
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    var isAccepted = false
    let server = Outcome(
      listener.connections.first()
        .handleEvents(receiveOutput: { _ in isAccepted = true })
        .setFailureType(to: SystemError.self)
        .flatMap { $0.bytes })
    let proxy = Outcome(example("proxy", "0", "\(listener.address)", "100000").output(on: loop))
    let place = try port(of: proxy)
    let client = Outcome(Connection.connect(to: "127.0.0.1:\(place)", on: loop))
    loop.run { isAccepted && !client.values.isEmpty }
    let connection = try #require(client.values.first)
    connection.channel.breakOffAtClose()
    connection.close()
    loop.run { server.completion != nil }
    #expect(server.completion != nil)
    server.cancel()
    end(proxy)
  }

  @Test func `a sample that can't start says why, in one line`() throws {
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    let place = try #require(listener.address.port)
    for (arguments, status, reason) in [
      ("tail", 64, "usage: Handles tail <file>"), ("proxy 0 h", 64, "usage: Handles proxy"),
      ("echo abc", 64, "abc: expected a number from 0 to 65535"), ("chat 65536", 64, "65536: expected"),
      ("proxy 0 h:1 0", 64, "0: expected a number from 1"), ("echo \(place)", 1, "EADDRINUSE"),
    ] {
      let outcome = run("\"$H\" \(arguments) 2>&1; echo $?")
      let lines = outcome.text.split(separator: "\n")
      #expect(lines.count == 2 && lines[0].contains(reason) && lines[1] == "\(status)", "\(arguments): \(outcome.text)")
    }
  }
}
