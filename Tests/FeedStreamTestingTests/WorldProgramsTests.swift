import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct WorldProgramsTests {
  @Test func `a scripted program runs through the same operator as a real one`() {
    withVirtualTime { time in
      time.programs["upper"] = { program in
        #expect(program.subprocess.arguments == ["-x"])
        program.input.utf8Text().map { Chunk($0.uppercased()) }.write(to: program.output)
          .sink(receiveCompletion: { _ in program.exit() }, receiveValue: { _ in })
          .store(in: &program.work)
      }
      var lines: [String] = []
      let all = ["a\n", "b\n"].map { Chunk($0) }.publisher.pipe(through: Subprocess("upper", ["-x"]), on: time).lines()
        .sink { _ in
        } receiveValue: {
          lines.append($0)
        }
      time.run()
      #expect(lines == ["A", "B"])
      #expect(time.programs.running.isEmpty)
      all.cancel()
    }
  }

  @Test func `a program that ignores a signal is killed after its grace period`() {
    withVirtualTime { time in
      time.programs["deaf"] = { $0.onSignal = { _ in } }
      let all = Subprocess("deaf").output(on: time).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(1))
      let program = time.programs.running.first
      all.cancel()
      #expect(program?.signals == [15])
      time.advance(by: .milliseconds(4_999))
      #expect(program?.signals == [15])
      time.advance(by: .milliseconds(1))
      #expect(program?.signals == [15, 9])
      time.run()
      #expect(time.programs.running.isEmpty)
    }
  }

  @Test func `a program whose text isn't read gets signals, and can be killed`() throws {
    try withVirtualTime { time in
      time.programs["p"] = { program in
        program.onSignal = { _ in }
        program.print(String(repeating: "x", count: 100_000))
        program.exit()
      }
      var program = Subprocess("p")
      program.standardOutput = .pipe
      let child = try program.start(on: time)
      var status: FeedStream.ExitStatus?
      let ending = child.exit.sink { status = $0 }
      time.run()
      child.send(15)
      time.run()
      #expect(status == nil && time.programs.running.first?.signals == [15])
      child.send(9)
      time.run()
      #expect(status == .signaled(9) && time.programs.running.isEmpty)
      ending.cancel()
    }
  }

  @Test func `a program that waits for its text to be read may exit in its signal handler`() throws {
    try withVirtualTime { time in
      time.programs["p"] = { program in
        program.onSignal = { [unowned program] _ in program.exit(.exited(3)) }
        program.print(String(repeating: "x", count: 100_000))
        program.exit()
      }
      var program = Subprocess("p")
      program.standardOutput = .pipe
      let child = try program.start(on: time)
      var status: FeedStream.ExitStatus?
      let ending = child.exit.sink { status = $0 }
      time.run()
      child.send(15)
      time.run()
      #expect(status == .exited(3) && time.programs.running.isEmpty)
      ending.cancel()
    }
  }

  @Test func `the null signal doesn't reach a program`() throws {
    try withVirtualTime { time in
      time.programs["p"] = { _ in }
      let child = try Subprocess("p").start(on: time)
      let ending = child.exit.sink { _ in }
      time.run()
      child.send(0)
      time.run()
      #expect(time.programs.running.map(\.signals) == [[]])
      child.send(9)
      time.run()
      #expect(time.programs.running.isEmpty)
      ending.cancel()
    }
  }

  @Test func `publishers that write to one standard stream don't disturb each other`() {
    withVirtualTime { time in
      let (a, b) = (PassthroughSubject<Chunk, Never>(), PassthroughSubject<Chunk, Never>())
      var (text, isFinished) = ("", false)
      let streams = [
        time.standardStreams.errors.bytes.utf8Text().sink { _ in
        } receiveValue: {
          text += $0
        },
        a.write(to: .errors, on: time).sink { _ in
          isFinished = true
        } receiveValue: { _ in
        },
        b.write(to: .errors, on: time).sink { _ in
        } receiveValue: { _ in
        },
      ]
      a.send("a1\n")
      b.send("b1\n")
      time.run()
      a.send("a2\n")
      a.send(completion: .finished)
      time.run()
      #expect(text == "a1\nb1\na2\n" && isFinished)
      for stream in streams { stream.cancel() }
    }
  }

  @Test func `of a cancelled write to a standard stream, only the accepted bytes arrive`() {
    withVirtualTime { time in
      let big = Just(Chunk(repeatElement(65, count: 100_000))).write(to: .output, on: time).sink { _ in
      } receiveValue: { _ in
      }
      time.run()
      big.cancel()
      let small = Just(Chunk("x")).write(to: .output, on: time).sink { _ in
      } receiveValue: { _ in
      }
      var count = 0
      let reading = time.standardStreams.output.bytes.sink { _ in
      } receiveValue: {
        count += $0.count
      }
      time.run()
      #expect(count == 64 * 1024 + 1)
      for stream in [small, reading] { stream.cancel() }
    }
  }

  @Test func `the text that a program was writing when a signal ended it still arrives`() {
    withVirtualTime { time in
      time.programs["p"] = { program in
        program.print("last words")
        program.print(" and more")
        program.exit(.signaled(6))
      }
      var (output, error) = ("", "")
      let all = Subprocess("p").output(on: time).sink {
        if case .failure(let failure) = $0 { error = "\(failure)" }
      } receiveValue: {
        output += $0.text
      }
      time.run()
      #expect(output == "last words" && error == "p was killed by signal 6")
      all.cancel()
    }
  }

  @Test func `a missing program and a failing one are errors`() {
    withVirtualTime { time in
      time.programs["false"] = { program in
        Just(Chunk("why\n")).write(to: program.errors)
          .sink(receiveCompletion: { _ in program.exit(.exited(1)) }, receiveValue: { _ in })
          .store(in: &program.work)
      }
      var errors: [String] = []
      var failing = Subprocess("false")
      failing.standardErrors = .pipe
      let all = [Subprocess("none"), failing].map { program in
        program.output(on: time).sink {
          if case .failure(let error) = $0 { errors.append("\(error)") }
        } receiveValue: { _ in
        }
      }
      time.run()
      #expect(
        Set(errors) == ["cannot start none: no such file or directory (ENOENT)", "false exited with status 1: why"])
      for subscription in all { subscription.cancel() }
    }
  }

  @Test func `a program isn't started in a missing folder, or with text that the system would cut off`() throws {
    try withVirtualTime { time in
      time.programs["p"] = { $0.exit() }
      time.files["file"] = "x"
      let cases: [(folder: String, argument: String, code: Int32)] = [
        ("none", "", 2), ("file", "", 20), (".", "a\0b", 22),
      ]
      for (folder, argument, code) in cases {
        let program = Subprocess("p", [argument], folder: folder)
        do throws(SystemError) {
          _ = try program.start(on: time)
          Issue.record("The program was started in \(folder).")
        } catch {
          #expect(error.code == code)
        }
      }
      time.files.makeFolder("folder")
      let child = try Subprocess("p", folder: "folder").start(on: time)
      let ending = child.exit.sink { _ in }
      time.run()
      #expect(time.programs.running.isEmpty)
      ending.cancel()
    }
  }

  @Test func `releasing one of two terminals doesn't stop the keys of the other`() throws {
    try withVirtualTime { time in
      var terminal: Terminal? = try Terminal(on: time)
      let next = try Terminal(on: time)
      var keys: [TerminalKey] = []
      let reading = next.keys.sink(receiveCompletion: { _ in }, receiveValue: { keys.append($0) })
      #expect(terminal != nil)
      terminal = nil
      time.terminal.press("x")
      time.run()
      #expect(keys == [.character("x")])
      reading.cancel()
    }
  }

  @Test func `a terminal delivers keys again when the one that was read later is no longer read`() throws {
    try withVirtualTime { time in
      let (first, second) = try (Terminal(on: time), Terminal(on: time))
      var keys: [TerminalKey] = []
      let reading = first.keys.sink(receiveCompletion: { _ in }, receiveValue: { keys.append($0) })
      let other = second.keys.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      time.terminal.press("a")
      time.run()
      #expect(keys.isEmpty)
      other.cancel()
      time.terminal.press("b")
      time.run()
      #expect(keys == [.character("b")])
      reading.cancel()
    }
  }

  @Test func `a subscriber that cancels at the terminal's first size leaves no watch`() throws {
    final class Canceller: Subscriber {
      var subscription: (any Subscription)?
      var count = 0
      func receive(subscription: any Subscription) {
        self.subscription = subscription
        subscription.request(.unlimited)
      }
      func receive(_ size: TerminalSize) -> Subscribers.Demand {
        count += 1
        subscription?.cancel()
        return .none
      }
      func receive(completion: Subscribers.Completion<SystemError>) {}
    }
    try withVirtualTime { time in
      let canceller = Canceller()
      try Terminal(on: time).sizes.subscribe(canceller)
      #expect(canceller.count == 1)
      time.terminal.size.columns = 100
      // A watch would have scheduled its announcement.
      #expect(time.pending.isEmpty)
      canceller.subscription = nil
    }
  }

  @Test func `signals, standard streams and the terminal are scripted by the test`() throws {
    try withVirtualTime { time in
      var log: [String] = []
      let terminal = try Terminal(on: time)
      var streams: [AnyCancellable] = [
        Signals.received(15, on: time).sink { _ in
        } receiveValue: {
          log.append("signal \($0)")
        },
        StandardInput.bytes(on: time).lines().sink { _ in
        } receiveValue: {
          log.append("input \($0)")
        },
        terminal.keys.sink { _ in
        } receiveValue: {
          log.append("key \($0)")
        },
        terminal.sizes.sink { _ in
        } receiveValue: {
          log.append("size \($0.columns)")
        },
        time.standardStreams.output.bytes.utf8Text().sink { _ in
        } receiveValue: {
          log.append("output \($0)")
        },
        Just(Chunk("out")).write(to: .output, on: time).sink { _ in
        } receiveValue: { _ in
        },
        Just(Chunk("in\n")).write(to: time.standardStreams.input).sink { _ in
        } receiveValue: { _ in
        },
      ]
      time.run()
      #expect(time.terminal.isRaw)
      #expect(time.raise(15))
      #expect(!time.raise(1))
      time.terminal.press("\u{1B}[Aq")
      time.terminal.size.columns = 100
      time.run()
      #expect(
        Set(log) == ["size 80", "output out", "input in", "signal 15", "key up", "key character(\"q\")", "size 100"])
      for stream in streams { stream.cancel() }
      streams = []
      #expect(!time.terminal.isRaw)
    }
  }

  @Test func `a second reader of the terminal's keys is refused, and the terminal stays in raw mode for the first`()
    throws
  {
    try withVirtualTime { time in
      let terminal = try Terminal(on: time)
      var (keys, errors): ([TerminalKey], [SystemError]) = ([], [])
      let first = terminal.keys.sink { _ in
      } receiveValue: {
        keys.append($0)
      }
      let second = terminal.keys.sink {
        if case .failure(let error) = $0 { errors.append(error) }
      } receiveValue: { _ in
      }
      #expect(errors.map(\.name) == ["EBUSY"])
      #expect(time.terminal.isRaw)
      time.terminal.press("q")
      time.run()
      #expect(keys == [.character("q")])
      for subscription in [first, second] { subscription.cancel() }
      #expect(!time.terminal.isRaw)
    }
  }

  @Test func `watchers of a signal and of the terminal's size are informed in the order in which they subscribed`()
    throws
  {
    try withVirtualTime { time in
      let terminal = try Terminal(on: time)
      var log: [Int] = []
      let signals = (0..<20).map { number in
        Signals.received(15, on: time).sink { _ in
        } receiveValue: { _ in
          log.append(number)
        }
      }
      let sizes = (0..<20).map { number in
        terminal.sizes.sink { _ in
        } receiveValue: { _ in
          log.append(number)
        }
      }
      time.run()
      log = []
      time.raise(15)
      time.run()
      #expect(log == Array(0..<20))
      log = []
      time.terminal.size.columns = 100
      time.run()
      #expect(log == Array(0..<20))
      for watch in signals + sizes { watch.cancel() }
    }
  }
}
