/// A running program.
///
///     var sort = Subprocess("sort")
///     sort.standardInput = .pipe
///     let child = try sort.start(on: loop)
///     let writing = Just(Chunk("b\na\n")).write(to: child.input, atEnd: .closes)
///       .sink { print($0) } receiveValue: { _ in }
///     let reading = child.output.lines()
///       .sink { print($0) } receiveValue: { print($0) }
///     let ending = child.exit.sink { print($0) }
///
/// Streams that use the program retain it. When this object has been released and no stream uses the program anymore,
/// the program is cancelled. The loop keeps running until the program has ended, and reaps the process. Use this object
/// only on its scheduler's thread.
public final class RunningSubprocess: Cancellable {
  private let life: ProcessLife
  private let streams: [Connection?]

  init(_ life: ProcessLife) {
    self.life = life
    let process = life.process
    streams = zip([process.input, process.output, process.errors], ["input", "output", "errors"]).map { channel, name in
      channel.map { Connection($0, to: .unix("\(life.program)'s \(name)"), keeping: life) }
    }
  }

  /// The process ID.
  public var number: Int32 { life.process.number }

  /// The program's standard input. Close it, or write with ``WriteEnding/closes``, so that the program sees the end of
  /// its input.
  ///
  /// - Precondition: ``Subprocess/standardInput`` is a pipe.
  public var input: Connection { stream(0, "input", "standardInput") }

  /// The program's standard output. The program waits if its output isn't read.
  ///
  /// - Precondition: ``Subprocess/standardOutput`` is a pipe.
  public var output: Publishers.ConnectionBytes { stream(1, "output", "standardOutput").bytes }

  /// The program's standard error. The program waits if its error output isn't read.
  ///
  /// - Precondition: ``Subprocess/standardErrors`` is a pipe.
  public var errors: Publishers.ConnectionBytes { stream(2, "errors", "standardErrors").bytes }

  /// Memory of ``Subprocess/sharedBytes`` that the program has as its descriptor 3; `nil` if there is none, because the
  /// system refuses or the program isn't a process of its own.
  package var sharedMemory: SharedMemory? { life.process.sharedMemory }

  private func stream(_ index: Int, _ name: StaticString, _ property: StaticString) -> Connection {
    guard let stream = streams[index] else {
      preconditionFailure("RunningSubprocess.\(name): the stream is not a pipe; set Subprocess.\(property) to .pipe")
    }
    return stream
  }

  /// Delivers the program's exit status, even if the program has already ended. The status may arrive before or after
  /// the program's streams complete. If you cancel a program with ``Subprocess/endsDescendants``, the status arrives
  /// when the programs that it has started have also ended.
  ///
  /// **Demand:** the value waits for the first request. **Failure:** never. **Cancellation:** the program continues.
  /// **Policy:** holds the status.
  public var exit: AnyPublisher<ExitStatus, Never> { life.exit }

  /// Sends a signal to the program; does nothing if the program has ended.
  public func send(_ signal: Int32) { life.process.send(signal) }

  /// Ends the program, and with ``Subprocess/endsDescendants`` the programs that it has started: `SIGTERM` now,
  /// `SIGKILL` after ``Subprocess/grace``. Idempotent.
  public func cancel() { life.end() }
}

extension Subprocess {
  /// Starts the program.
  ///
  /// - Parameter scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Throws: when there is no such program or folder, or the system can't start another process.
  public func start(on scheduler: any LoopScheduler) throws(SystemError) -> RunningSubprocess {
    let process = try scheduler.world("Subprocess").spawn(self)
    return RunningSubprocess(ProcessLife(process, self, scheduler))
  }

  /// A publisher that runs the program for each subscriber and delivers its standard output.
  ///
  ///     Subprocess("git", ["log", "--format=%s"]).output(on: loop).lines()
  ///       .sink { print($0) } receiveValue: { print($0) }
  ///
  /// Finishes when the program has exited and its output has ended, in either order: a child process may keep the
  /// output open. If the standard error is a pipe, it must also have ended.
  ///
  /// **Demand:** each requested chunk is one read; without demand, the program waits when the pipe is full.
  /// **Failure:** ``SubprocessError``; an exit status other than 0 is a failure, too, and so is a signal that ends the
  /// program. **Cancellation:** ends the program: `SIGTERM` now, `SIGKILL` after ``grace``. **Policy:** holds the last
  /// 4 KiB of the standard error if that is a pipe.
  public func output(on scheduler: any LoopScheduler) -> AnyPublisher<Chunk, SubprocessError> {
    run(on: scheduler, feeding: Empty<Chunk, Never>?.none)
  }

  /// Runs the program, writes `input` to it, delivers its output, and fails unless it exits successfully.
  fileprivate func run<Input: Publisher>(
    on scheduler: any LoopScheduler, feeding input: Input?
  ) -> AnyPublisher<Chunk, SubprocessError> where Input.Output == Chunk {
    var subprocess = self
    subprocess.standardOutput = .pipe
    if input != nil { subprocess.standardInput = .pipe }
    return Deferred { [subprocess] () -> AnyPublisher<Chunk, SubprocessError> in
      let child: RunningSubprocess
      do throws(SystemError) {
        child = try subprocess.start(on: scheduler)
      } catch {
        return Fail(error: .system(error)).eraseToAnyPublisher()
      }
      let errors = LastBytes(of: subprocess.standardErrors == .pipe ? child.errors : nil)
      let program = subprocess.program
      let end = Deferred {
        child.exit.zip(errors.end).setFailureType(to: SubprocessError.self)
          .flatMap { status, errors -> AnyPublisher<Chunk, SubprocessError> in
            if status.isSuccess { return Empty().eraseToAnyPublisher() }
            return Fail(error: .ended(program: program, status, errors: errors)).eraseToAnyPublisher()
          }
      }
      let output = child.output.mapError(SubprocessError.system).append(end)
        .handleEvents(receiveCancel: {
          child.cancel()
          errors.stop()
        })
      guard let input else { return output.eraseToAnyPublisher() }
      let written = input.write(to: child.input, atEnd: .closes)
        .prefix(untilOutputFrom: child.exit)
        .catch { error -> AnyPublisher<Never, SubprocessError> in
          // A program may close its input early. Its exit status decides whether that is a failure.
          if (error.cause as? SystemError)?.code == Errno.broken { return Empty().eraseToAnyPublisher() }
          return Fail(error: .input(error.cause)).eraseToAnyPublisher()
        }
        .map { (_: Never) -> Chunk in }
      return output.merge(with: written).eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }
}

extension Publisher where Output == Chunk {
  /// Writes the bytes to a program's standard input, and delivers its standard output.
  ///
  ///     Subprocess("ps", ["ax"]).output(on: loop)
  ///       .pipe(through: Subprocess("grep", ["swift"]), on: loop)
  ///       .sink { print($0) } receiveValue: { print($0.text) }
  ///
  ///     upstream                   --b⏎--a⏎--|
  ///     pipe(through: sort, on: loop)
  ///     downstream                 ------------(a⏎b⏎)|
  ///
  /// The program's input is closed when upstream completes. When the program ends, upstream is cancelled.
  ///
  /// **Demand:** requests from upstream as ``Publisher/write(to:limit:atEnd:)`` does; reads the output on demand.
  /// **Failure:** ``SubprocessError``, as in ``Subprocess/output(on:)``, even when upstream fails; the program is then
  /// ended. **Cancellation:** cancels upstream and ends the program. **Policy:** holds up to 256 KiB of the bytes to
  /// write, and one chunk.
  public func pipe(
    through program: Subprocess, on scheduler: any LoopScheduler
  ) -> AnyPublisher<Chunk, SubprocessError> {
    program.run(on: scheduler, feeding: self)
  }
}

/// Collects the last part of a program's standard error.
private final class LastBytes {
  private var bytes: [Chunk] = []
  private var count = 0
  private var reading: AnyCancellable?
  private var fulfill: ((String) -> Void)?
  let end: Future<String, Never>

  init(of errors: Publishers.ConnectionBytes?) {
    var fulfill: ((String) -> Void)?
    end = Future { promise in fulfill = { promise(.success($0)) } }
    guard let errors else {
      fulfill?("")
      return
    }
    self.fulfill = fulfill
    // The subscription retains this object until the standard error has ended.
    reading = errors.sink { _ in
      self.fulfill.take()?(self.text)
    } receiveValue: {
      self.add($0)
    }
  }

  /// Stops reading the standard error, which child processes may keep open.
  func stop() { reading.take()?.cancel() }

  private func add(_ chunk: Chunk) {
    bytes.append(chunk.compacted())
    count += chunk.count
    while let first = bytes.first, count - first.count >= 4096 {
      bytes.removeFirst()
      count -= first.count
    }
  }

  private var text: String {
    let text = Chunk(joining: bytes).suffix(4096).text
    return String(text.reversed().drop { $0.isWhitespace }.reversed())
  }
}
