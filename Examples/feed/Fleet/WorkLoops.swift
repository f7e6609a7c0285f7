import FeedFleet
import FeedHTTP
import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import Logging

/// The workers of `feed work` on loops besides the session's own.
///
/// Each is independent, like a worker on another machine: only the fleet's leases keep two of them from polling the
/// same host.
final class WorkLoops: Cancellable {
  /// The settings from which each loop creates its worker.
  struct Terms: Sendable {
    let store: RedisAddress
    let client: CurlHTTPClient.Configuration
    let feeds: [SubscribedFeed]
    let log: Logger
    /// Applies the command's arguments to the options of the worker with this number.
    let change: @Sendable (inout FleetWorker.Options, Int) -> Void

    /// Creates a worker, whose events `hear` receives.
    ///
    /// - Parameter number: 1 for the worker on the session's own loop.
    func worker(
      _ number: Int, for store: RedisFleet, on loop: EventLoop, _ hear: @escaping (Event) -> Void
    ) -> FleetWorker {
      var options = FleetWorker.Options()
      change(&options, number)
      if number > 1 { options.name += "-\(number)" }
      options.report = { hear(.trouble($0)) }
      options.beat = { [name = options.name] counts in
        hear(.counts(counts, worker: number))
        return store.beat(name, about: counts)
      }
      let listed = ListedHTTPClient(CurlHTTPClient(on: loop, client), feeds)
      return FleetWorker(store, client: ObservedClient(client: listed, log: log), on: loop, options: options)
    }
  }

  enum Event: Sendable {
    case trouble(FleetError?)
    /// The counts of a worker, for the status.
    case counts([String: Int], worker: Int)
    case left
  }

  private let group: EventLoopGroup
  private var workers: [OnLoop<LoopWorker>] = []
  private let arriving = PassthroughSubject<FleetWorker.Report, Never>()
  private let events = PassthroughSubject<Event, Never>()
  private var hearing: AnyCancellable?
  private var left: Int

  /// - Parameters:
  ///   - count: the number of loops to start.
  ///   - hear: receives the workers' events, on `loop`.
  /// - Throws: when the system has no threads left.
  init(
    _ count: Int, _ terms: Terms, on loop: EventLoop, _ hear: @escaping (Event) -> Void
  ) throws(EventLoopError) {
    group = try EventLoopGroup(count: count, name: "work")
    left = count
    hearing = events.sink { [unowned self] event in
      hear(event)
      guard case .left = event else { return }
      left -= 1
      if left == 0 { arriving.send(completion: .finished) }
    }
    let (reports, news) = (arriving.sender(on: loop), events.sender(on: loop, keepsLoopAlive: false))
    workers = group.loops.enumerated().map { index, loop in
      OnLoop(loop) { LoopWorker(terms, index + 2, reports, news, on: $0) }
    }
  }

  /// The reports of all workers, as they are requested; finishes when the last worker has finished.
  var reports: AnyPublisher<FleetWorker.Report, Never> {
    arriving.buffer(size: 64, prefetch: .keepFull, whenFull: .dropNewest).eraseToAnyPublisher()
  }

  /// Stops claiming feeds, and completes the running requests.
  func finish() { for worker in workers { worker.run { $0.worker.finish() } } }

  /// Closes the running requests.
  func cancel() { for worker in workers { worker.cancel() } }

  /// Waits for the threads to end.
  func shutdown() { group.shutdown() }
}

/// One loop's worker, with its connections to the store and to servers.
private final class LoopWorker {
  let worker: FleetWorker
  private let redis: RedisClient
  private var running: AnyCancellable?
  private var leaving: AnyCancellable?

  init(
    _ terms: WorkLoops.Terms, _ number: Int, _ reports: StreamSender<FleetWorker.Report, Never>,
    _ events: StreamSender<WorkLoops.Event, Never>, on loop: EventLoop
  ) {
    redis = RedisClient(terms.store, on: loop)
    let store = RedisFleet(redis)
    worker = terms.worker(number, for: store, on: loop) { events.post($0) }
    running =
      worker
      .mapAsync(limit: worker.concurrency) { report in _ = await reports.send(report) }
      .sink { [unowned self] _ in
        leaving = store.leave(worker, on: loop) { events.post(.left) }
      } receiveValue: { _ in
      }
  }

  deinit {
    // Closing fails the commands in flight, which may complete `running`, which uses `self`.
    running = nil
    redis.close()
  }
}

extension RedisFleet {
  /// Removes a worker that has finished, and then calls back. If the store is unreachable, it removes the worker after
  /// ten minutes.
  func leave(_ worker: FleetWorker, on loop: EventLoop, then: @escaping () -> Void) -> AnyCancellable {
    leave(worker.name).replaceError(with: ()).timeout(.seconds(1), scheduler: loop)
      .sink(receiveCompletion: { _ in then() }, receiveValue: { _ in })
  }
}
