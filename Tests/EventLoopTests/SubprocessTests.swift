import Foundation
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled, .timeLimit(.minutes(5))) struct SubprocessTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func run(_ subprocess: Subprocess) -> Outcome<Chunk, SubprocessError> {
    let outcome = Outcome(subprocess.output(on: loop))
    loop.run()
    return outcome
  }

  private func shell(_ script: String) -> Subprocess { Subprocess("/bin/sh", ["-c", script]) }

  @Test func `a program's output is delivered, and its arguments aren't interpreted by a shell`() {
    let outcome = run(Subprocess("printf", ["%s|", "a b", "$HOME", "", "*"]))
    #expect(outcome.text == "a b|$HOME||*|")
    #expect(outcome.isFinished)
  }

  @Test func `pipe(through:) connects processes`() {
    let lines = Subprocess("printf", ["one\\ntwo\\nthree\\n"]).output(on: loop)
      .pipe(through: Subprocess("grep", ["t"]), on: loop)
      .pipe(through: Subprocess("sort"), on: loop)
      .lines()
    let outcome = Outcome(lines)
    loop.run()
    #expect(outcome.values == ["three", "two"])
    #expect(outcome.isFinished)
  }

  @Test func `a megabyte passes through a program that writes while it reads`() {
    let block = Chunk(repeatElement(UInt8(ascii: "x"), count: 64 * 1024))
    let outcome = Outcome(repeatElement(block, count: 16).publisher.pipe(through: Subprocess("cat"), on: loop))
    loop.run()
    #expect(outcome.values.reduce(0) { $0 + $1.count } == 1 << 20)
    #expect(outcome.isFinished)
  }

  @Test func `a program that fails is an error with its status and its standard error`() {
    var subprocess = shell("echo out; echo complaint >&2; exit 3")
    subprocess.standardErrors = .pipe
    let outcome = run(subprocess)
    #expect(outcome.text == "out\n")
    #expect(outcome.error?.description == "/bin/sh exited with status 3: complaint")
    #expect(run(shell("kill -9 $$")).error?.description == "/bin/sh was killed by signal 9")
  }

  @Test func `a program doesn't have to read its input to the end`() {
    let endless = repeatElement(Chunk("y\n"), count: .max).publisher
    let outcome = Outcome(endless.pipe(through: Subprocess("head", ["-n", "2"]), on: loop))
    loop.run()
    #expect(outcome.text == "y\ny\n")
    #expect(outcome.isFinished)
  }

  @Test func `a failure of the input ends the program and fails the output`() {
    struct Lost: Error {}
    let input = PassthroughSubject<Chunk, Lost>()
    let outcome = Outcome(input.pipe(through: Subprocess("cat"), on: loop))
    input.send(completion: .failure(Lost()))
    loop.run()
    guard case .input(let cause)? = outcome.error else {
      Issue.record("\(String(describing: outcome.error))")
      return
    }
    #expect(cause is Lost)
  }

  @Test func `a program that is missing, can't be run or has no folder is an error that names it`() {
    folder.write("#!/bin/sh", to: "plain")
    func limited(_ program: String) -> Subprocess {
      var subprocess = Subprocess(program)
      subprocess.limits.openFiles = 64
      return subprocess
    }
    var inNowhere = Subprocess("true")
    inNowhere.folder = folder("nowhere")
    for (subprocess, subject, name) in [
      (Subprocess("no-such-program"), "no-such-program", "ENOENT"),
      (Subprocess(folder("none")), folder("none"), "ENOENT"),
      (Subprocess(folder("plain")), folder("plain"), "EACCES"), (inNowhere, folder("nowhere"), "ENOENT"),
      (Subprocess("a\0b"), "a\0b", "EINVAL"), (Subprocess(""), "a program without a name", "ENOENT"),
      (Subprocess("true", environment: ["A=B": ""]), "true", "EINVAL"),
      (Subprocess("true", environment: ["A=\u{301}B": ""]), "true", "EINVAL"),
      (Subprocess("true", environment: ["A": "\0\u{301}"]), "true", "EINVAL"),
      (limited(folder("none")), folder("none"), "ENOENT"), (limited(folder("plain")), folder("plain"), "EACCES"),
      (limited(folder.path), folder.path, "EACCES"),
    ] {
      guard case .system(let error)? = run(subprocess).error else {
        Issue.record("\(subprocess)")
        continue
      }
      #expect((error.subject, error.name) == (subject, name))
    }
  }

  @Test func `the error for a missing program shows how to pass the arguments that its name contains`() {
    func message(_ program: String) -> String { run(Subprocess(program)).error.map { "\($0)" } ?? "" }
    #expect(message("no-such-program -l /tmp").hasSuffix("Subprocess(\"no-such-program\", [\"-l\", \"/tmp\"])"))
    for program in ["no-such-program", ""] { #expect(message(program).hasSuffix("(ENOENT)")) }
  }

  @Test func `the largest limits mean no limit`() {
    var subprocess = shell("ulimit -f; ulimit -n > /dev/null; echo ok")
    subprocess.limits = Subprocess.Limits(processorSeconds: .max, memoryBytes: .max, fileBytes: .max, openFiles: .max)
    #expect(run(subprocess).text == "unlimited\nok\n")
  }

  @Test func `a program's end is noticed although its signal is blocked`() {
    var (signals, before) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGCHLD)
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    #expect(run(shell("echo ok")).text == "ok\n")
  }

  @Test func `a program inherits no descriptors except the standard streams`() throws {
    // Opened without close-on-exec, as careless libraries do.
    let careless = open("/dev/null", O_RDONLY)
    defer { close(careless) }
    var subprocess = shell("ls /proc/self/fd")
    subprocess.standardErrors = .null
    // `ls` itself opens the folder with the next number, 3.
    #expect(run(subprocess).text == "0\n1\n2\n3\n")
  }

  @Test func `a program starts in its folder, with empty standard input`() throws {
    var subprocess = shell("pwd -P; cat")
    subprocess.folder = folder.path
    #expect(run(subprocess).text == (folder.path as NSString).resolvingSymlinksInPath + "\n")
  }

  @Test func `a program with limits and a relative path is looked up in its folder`() throws {
    try ExecutableFile.write(script: "ulimit -n", to: folder("own"))
    var subprocess = Subprocess("./own", folder: folder.path)
    subprocess.limits.openFiles = 20
    #expect(run(subprocess).text == "20\n")
  }

  @Test func `each open descriptor can be closed on spawning, even if the system can't do it in one call`() {
    let careless = open("/dev/null", O_RDONLY)
    defer { close(careless) }
    System.closeEachOnSpawn()
    #expect(fcntl(careless, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `limits apply from the program's start`() {
    var subprocess = shell("ulimit -n; ulimit -t; ulimit -f; ulimit -v")
    subprocess.limits = .init(processorSeconds: 7, memoryBytes: 1 << 30, fileBytes: 1 << 20, openFiles: 20)
    #expect(run(subprocess).text == "20\n7\n2048\n1048576\n")
    var greedy = shell("while :; do :; done")
    greedy.limits.processorSeconds = 1
    #expect(run(greedy).error?.description == "/bin/sh was killed by signal \(SIGXCPU)")
  }

  @Test func `cancelling sends SIGTERM, and SIGKILL after the grace period`() throws {
    let polite = try Subprocess("sleep", ["100"]).start(on: loop)
    let status = Outcome(polite.exit)
    polite.cancel()
    loop.run()
    #expect(status.values == [.signaled(SIGTERM)])

    var deaf = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    deaf.grace = .milliseconds(100)
    let child = try deaf.start(on: loop)
    let (end, output) = (Outcome(child.exit), Outcome(child.output))
    loop.run { output.text == "ready\n" }
    let begun = loop.now
    child.cancel()
    loop.run { !end.values.isEmpty }
    #expect(end.values == [.signaled(SIGKILL)])
    #expect(begun.distance(to: loop.now) >= .milliseconds(100))
    output.cancel()
    loop.run()
  }

  @Test func `cancelling or dropping a subscription ends its program`() {
    let cancelled = Outcome(shell("echo $$; exec sleep 100").output(on: loop))
    loop.run { !cancelled.values.isEmpty }
    cancelled.cancel()
    loop.run()
    #expect(kill(Int32(cancelled.text.dropLast())!, 0) == -1)

    var dropped: Outcome<Chunk, SubprocessError>? = Outcome(shell("echo $$; exec sleep 100").output(on: loop))
    loop.run { dropped?.values.isEmpty == false }
    let number = Int32(dropped!.text.dropLast())!
    dropped = nil
    loop.run()
    #expect(kill(number, 0) == -1)
  }

  @Test func `with endsDescendants, cancelling ends the program's children`() throws {
    var subprocess = shell("sleep 100 & echo $!; wait")
    subprocess.endsDescendants = true
    let outcome = Outcome(subprocess.output(on: loop))
    loop.run { !outcome.values.isEmpty }
    let below = Int32(outcome.text.dropLast())!
    #expect(kill(below, 0) == 0)
    outcome.cancel()
    loop.run()
    // The process has no parent here, so the system may take a while to clean it up.
    loop.run {
      kill(below, 0) == -1
        || (try? String(contentsOfFile: "/proc/\(below)/stat", encoding: .utf8))?.contains(") Z") != false
    }
    #expect((try? String(contentsOfFile: "/proc/\(below)/stat", encoding: .utf8))?.contains(") S") != true)
  }

  /// A shell that waits for a child that ignores SIGTERM, and prints the child's number.
  private func withDeafChild(
    _ end: String, grace: StreamInstant.Stride = .milliseconds(100)
  ) -> Subprocess {
    var subprocess = shell("trap '' TERM; sleep 100 >/dev/null & trap - TERM; echo $!; \(end)")
    subprocess.endsDescendants = true
    subprocess.grace = grace
    return subprocess
  }

  private func runs(_ number: Int32) -> Bool {
    (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8))?.contains(") Z") == false
  }

  @Test func `with endsDescendants, a child that ignores SIGTERM is killed after the grace period`() throws {
    let child = try withDeafChild("wait").start(on: loop)
    let (end, output) = (Outcome(child.exit), Outcome(child.output))
    loop.run { !output.values.isEmpty }
    let below = try #require(Int32(output.text.dropLast()))
    let begun = loop.now
    child.cancel()
    loop.run()
    #expect(end.values == [.signaled(SIGTERM)])
    #expect(begun.distance(to: loop.now) >= .milliseconds(100))
    loop.run { !runs(below) }
    #expect(!runs(below))
    kill(below, SIGKILL)
  }

  @Test func `with endsDescendants, a program that exits on its own ends its children, but doesn't wait for them`()
    throws
  {
    let outcome = Outcome(withDeafChild("exit", grace: .seconds(1)).output(on: loop))
    loop.run { outcome.completion != nil }
    #expect(outcome.isFinished)
    let below = try #require(Int32(outcome.text.dropLast()))
    #expect(runs(below))
    loop.run()
    loop.run { !runs(below) }
    #expect(!runs(below))
    kill(below, SIGKILL)
  }

  @Test func `with leavesDescendants, the children of a program that exits continue`() throws {
    var subprocess = shell("sleep 100 >/dev/null 2>&1 & echo $!")
    (subprocess.endsDescendants, subprocess.leavesDescendants) = (true, true)
    let outcome = Outcome(subprocess.output(on: loop))
    loop.run()
    let left = try #require(Int32(outcome.text.dropLast()))
    #expect(kill(left, SIGKILL) == 0, "the program that was left behind was there")
  }

  @Test func `closing a loop ends its programs and leaves no zombies`() throws {
    var number: Int32 = 0
    try withLoop { loop in
      let child = try Subprocess("sleep", ["100"]).start(on: loop)
      number = child.number
      loop.run(.oneTurn)
    }
    #expect(kill(number, 0) == -1)
  }

  @Test func `a program may exit before or after its output ends`() {
    // The background program keeps the output open.
    let late = run(shell("(sleep 0.2; echo late) & echo early"))
    #expect(late.text == "early\nlate\n")
    #expect(late.isFinished)
    let closed = run(shell("echo early; exec >&-; sleep 0.2; exit 4"))
    #expect(closed.text == "early\n")
    #expect(closed.error?.description == "/bin/sh exited with status 4")
  }

  @Test func `a program's output is read only as requested`() throws {
    let puller = Puller(shell("yes & exec sleep 100").output(on: loop))
    puller.request(1)
    loop.run { !puller.values.isEmpty }
    loop.run(for: .milliseconds(200))
    #expect(puller.values.count == 1)
    puller.cancel()
    loop.run()
    #expect(puller.values.count == 1)
  }

  @Test func `a hundred programs, eight at a time, all complete`() {
    let outcome = Outcome(
      (0..<100).publisher.setFailureType(to: SubprocessError.self)
        .flatMap(maxPublishers: .max(8)) { [loop] _ in Subprocess("true").output(on: loop) })
    loop.run()
    #expect(outcome.isFinished)
  }

  @Test func `writing to a closed pipe is an error and doesn't end the process`() throws {
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    let server = Outcome(listener.connections.prefix(1), onValue: { $0.close() })
    let client = Outcome(
      Connection.connect(to: listener.address, on: loop).eraseFailureType().flatMap { connection in
        repeatElement(Chunk(repeatElement(1, count: 65_536)), count: 1_000).publisher.write(to: connection)
          .eraseFailureType()
      })
    loop.run(until: { client.completion != nil })
    let cause = (client.error as? WriteError)?.cause as? SystemError
    #expect(["EPIPE", "ECONNRESET"].contains(cause?.name))
    #expect(server.values.count == 1)
    listener.close()
    loop.run()
  }
}

/// Each test runs in its own process, because other tests read this one's environment when they start processes.
@Suite(.settled) struct EnvironmentTests {
  private static func output(_ program: String, _ arguments: [String], _ environment: Subprocess.Environment) -> String
  {
    let loop = EventLoop()
    defer { loop.close() }
    let outcome = Outcome(Subprocess(program, arguments, environment: environment).output(on: loop))
    loop.run()
    return outcome.text
  }

  @Test func `variables that are not UTF-8 are passed on when others change`() async {
    await #expect(processExitsWith: .success) {
      let value: [CChar] = [0x63, 0x61, 0x66, CChar(bitPattern: 0xE9), 0]
      setenv("FEEDSTREAM_LATIN", value, 1)
      let script = "printf %s \"$FEEDSTREAM_LATIN\" | od -An -tx1 | tr -d ' \\n'"
      #expect(EnvironmentTests.output("/bin/sh", ["-c", script], .inherited.setting("A", to: "1")) == "636166e9")
    }
  }

  @Test func `the environment can be inherited, changed or empty`() async {
    await #expect(processExitsWith: .success) {
      setenv("FEEDSTREAM_SECRET", "hidden", 1)
      func variables(_ environment: Subprocess.Environment) -> String {
        EnvironmentTests.output("/bin/sh", ["-c", "echo ${FEEDSTREAM_SECRET-none} ${A-none}"], environment)
      }
      #expect(variables(.inherited) == "hidden none\n")
      #expect(variables(.inherited.setting("A", to: "1")) == "hidden 1\n")
      #expect(variables(.inherited.removing("FEEDSTREAM_SECRET")) == "none none\n")
      #expect(variables(["A": "1"]) == "none 1\n")
      #expect(EnvironmentTests.output("env", [], .clean) == "")
    }
  }
}

#if os(Linux)
  /// A suite without a loop: while these tests wait for a process, others run on its thread, and would use the loop.
  @Suite(.settled) struct InheritedProcessTests {
    @Test func `a program that can't be started because no descriptor is left fails with that reason`() async {
      await #expect(processExitsWith: .success) {
        let loop = EventLoop()
        var subprocess = Subprocess("true")
        subprocess.standardOutput = .inherited
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        var none = limit
        none.rlim_cur = 0
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
        var failure: SystemError?
        do throws(SystemError) { _ = try subprocess.start(on: loop) } catch { failure = error }
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(failure == SystemError("open", "/dev/null", code: EMFILE))
        loop.run()
      }
    }

    @Test func `with endsDescendants, children that this process inherits don't delay the exit status`() async {
      await #expect(processExitsWith: .success) {
        // Make this process the parent of orphans, as the first process of a container is.
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        let control = unsafeBitCast(try #require(dlsym(nil, "prctl")), to: Control.self)
        #expect(control(36, 1, 0, 0, 0) == 0)  // PR_SET_CHILD_SUBREAPER
        let loop = EventLoop()
        var subprocess = Subprocess("sh", ["-c", "sleep 100 >/dev/null & echo $!; wait"])
        subprocess.endsDescendants = true
        subprocess.grace = .seconds(30)
        let child = try subprocess.start(on: loop)
        let (end, output) = (Outcome(child.exit), Outcome(child.output))
        loop.run { !output.values.isEmpty }
        let begun = loop.now
        child.cancel()
        loop.run()
        #expect(end.values == [.signaled(SIGTERM)])
        #expect(begun.distance(to: loop.now) < .seconds(20))
        #expect(waitpid(-1, nil, WNOHANG) == -1, "no zombie is left")
      }
    }
  }
#endif
