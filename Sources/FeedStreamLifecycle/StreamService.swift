// This file is empty without the `Lifecycle` trait, which adds ServiceLifecycle as a dependency.
#if Lifecycle
  public import FeedHTTPServer
  public import FeedStream
  public import ServiceLifecycle
  internal import Synchronization

  /// A service that runs a stream on a loop. The service ends when the stream completes, and stops the stream on
  /// graceful shutdown.
  ///
  ///     let working = StreamService(on: thread.loop) { loop in
  ///       let worker = FleetWorker(queue, client: client, on: loop)
  ///       return .init(worker) { worker.finish() }
  ///     }
  ///
  /// If the task is cancelled, the subscription is cancelled and released on the loop.
  public struct StreamService: Service {
    /// A stream, and a function that stops it. Use both only on the stream's loop.
    public struct Running {
      fileprivate let subscribe: (_ end: @escaping (Result<Void, any Error>) -> Void) -> AnyCancellable
      fileprivate let stop: () -> Void

      /// - Parameters:
      ///   - publisher: the stream, which runs until it completes; its values are ignored.
      ///   - stop: makes the stream complete soon; called at most once.
      public init<P: Publisher>(_ publisher: P, stop: @escaping () -> Void) {
        self.stop = stop
        subscribe = { end in
          publisher.sink {
            if case .failure(let error) = $0 { end(.failure(error)) } else { end(.success(())) }
          } receiveValue: { _ in
          }
        }
      }

      /// Runs a server, and shuts it down to stop it.
      ///
      /// - Parameters:
      ///   - server: the server to shut down.
      ///   - serving: the result of the server's `serve`.
      ///   - deadline: the time after which remaining connections are closed.
      ///   - grace: the time that idle connections stay open for one last request.
      public init(
        _ server: HTTPServer, serving: AnyCancellable, within deadline: StreamInstant.Stride = .seconds(10),
        grace: StreamInstant.Stride = .milliseconds(200)
      ) {
        let hasEnded = PassthroughSubject<Void, Never>()
        var ending: AnyCancellable?
        self.init(hasEnded) {
          ending = server.shutdown(within: deadline, grace: grace).sink { _ in
            _ = serving
            _ = ending
            hasEnded.send(completion: .finished)
          } receiveValue: { _ in
          }
        }
      }
    }

    private let loop: EventLoop
    private let make: @Sendable (EventLoop) throws -> Running

    /// - Parameters:
    ///   - loop: the loop that runs the stream. It must run on a thread other than the main actor's until the service
    ///     has ended.
    ///   - make: makes the stream, on the loop, when the service starts. An error that it throws ends the service.
    public init(on loop: EventLoop, _ make: @escaping @Sendable (EventLoop) throws -> Running) {
      self.loop = loop
      self.make = make
    }

    public func run() async throws {
      let outcome = Outcome()
      let state = start(outcome)
      defer { state.cancel() }
      try await withTaskCancellationHandler {
        try await withGracefulShutdownHandler {
          try await outcome.get()
        } onGracefulShutdown: {
          state.bring { $0?.stop() }
        }
      } onCancel: {
        outcome.end(.failure(CancellationError()))
      }
    }

    private func start(_ outcome: Outcome) -> OnLoop<Live?> {
      // If the loop is closed, it releases the work that holds the ticket. The ticket is then released, too, and ends
      // the service.
      let ticket = Ticket(outcome)
      return OnLoop(loop) { [make] loop in
        do {
          return Live(try make(loop), ticket)
        } catch {
          ticket.outcome.end(.failure(error))
          return nil
        }
      }
    }

    /// The running stream and its subscription, on the loop.
    private final class Live {
      private let running: Running
      private let ticket: Ticket
      private let subscription: AnyCancellable
      private var isStopped = false

      init(_ running: Running, _ ticket: Ticket) {
        self.running = running
        self.ticket = ticket
        subscription = running.subscribe { [outcome = ticket.outcome] in outcome.end($0) }
      }

      func stop() {
        guard !isStopped else { return }
        isStopped = true
        running.stop()
      }
    }

    /// Ends the service when this ticket is released, because no other code can end the service after that.
    private final class Ticket: Sendable {
      let outcome: Outcome
      init(_ outcome: Outcome) { self.outcome = outcome }
      deinit { outcome.end(.success(())) }
    }

    /// The result of the service, for the task that waits for the service to end. The first result counts.
    private final class Outcome: Sendable {
      private enum State {
        case open
        case awaited(CheckedContinuation<Void, any Error>)
        case over(Result<Void, any Error>)
      }

      private let state = Mutex(State.open)

      func end(_ result: Result<Void, any Error>) {
        let waiting: CheckedContinuation<Void, any Error>? = state.withLock { state in
          switch state {
          case .open:
            state = .over(result)
            return nil
          case .awaited(let continuation):
            state = .over(result)
            return continuation
          case .over: return nil
          }
        }
        waiting?.resume(with: result)
      }

      func get() async throws {
        try await withCheckedThrowingContinuation { continuation in
          let result: Result<Void, any Error>? = state.withLock { state in
            if case .over(let result) = state { return result }
            state = .awaited(continuation)
            return nil
          }
          if let result { continuation.resume(with: result) }
        }
      }
    }
  }
#endif
