#if Metrics
  public import CoreMetrics
  public import FeedHTTPServer
  public import FeedStream

  /// Records metrics of a loop, and of servers on it, until cancelled or released. Use this object only on the loop's
  /// thread.
  ///
  ///     let metrics = LoopMetrics(of: loop, named: "main")
  ///     metrics.add(server)
  ///
  /// - **Turns:** the duration of each turn (``MetricNames/turnDuration``), excluding the time that the loop waits.
  /// - **Delay:** how late a timer fires (``MetricNames/loopDelay``), once per period.
  /// - **Numbers:** active handles, offloaded work, and the servers' connections and waiting bytes, once per period.
  ///
  /// The timer keeps the loop running. This object sets the loop's `onTurn` handler, so you can't set a handler of your
  /// own.
  public final class LoopMetrics: Cancellable {
    private let loop: EventLoop
    private let turns: CoreMetrics.Timer
    private let delay: CoreMetrics.Timer
    private let handles: Gauge
    private let offloads: Gauge
    private let makeGauge: (String) -> Gauge
    private var servers: [Server] = []
    /// The gauges of all servers together, because gauges with equal names would overwrite each other.
    private var serverGauges: (connections: Gauge, waitingBytes: Gauge)?
    private var sampling: (any Cancellable)?

    private struct Server {
      weak var server: HTTPServer?
    }

    /// - Parameters:
    ///   - loop: the loop, which the calling thread must own.
    ///   - name: the value of ``MetricNames/Attribute/loopName``.
    ///   - period: the time between two samples of the delay and the numbers; 1 s by default.
    ///   - factory: makes the metrics; the process's factory by default.
    public init(
      of loop: EventLoop, named name: String, every period: StreamInstant.Stride = .seconds(1),
      factory: any MetricsFactory = MetricsSystem.factory
    ) {
      let dimensions = [(MetricNames.Attribute.loopName, name)]
      func timer(_ label: String) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
      }
      makeGauge = { Gauge(label: $0, dimensions: dimensions, factory: factory) }
      self.loop = loop
      turns = timer(MetricNames.turnDuration)
      delay = timer(MetricNames.loopDelay)
      handles = makeGauge(MetricNames.loopHandles)
      offloads = makeGauge(MetricNames.loopOffloads)
      loop.onTurn { [turns] in turns.recordNanoseconds($0.wholeNanoseconds) }
      sample(at: loop.now.advanced(by: period), every: period)
    }

    deinit { cancel() }

    /// Also records a server's connections and waiting bytes, as long as the server exists. The servers of a loop are
    /// recorded together: each number is the sum.
    public func add(_ server: HTTPServer) {
      servers.append(Server(server: server))
      guard serverGauges == nil else { return }
      serverGauges = (makeGauge(MetricNames.serverConnections), makeGauge(MetricNames.serverWaitingBytes))
    }

    /// Stops recording. Gauges keep their last values.
    public func cancel() {
      guard let sampling else { return }
      self.sampling = nil
      sampling.cancel()
      loop.onTurn(nil)
    }

    private func sample(at due: StreamInstant, every period: StreamInstant.Stride) {
      sampling = loop.once(after: loop.now.distance(to: due)) { [weak self] in
        guard let self else { return }
        delay.recordNanoseconds(due.distance(to: loop.now).nanoseconds)
        handles.record(loop.activeHandleCount)
        offloads.record(loop.offloadedCount)
        if let serverGauges {
          servers.removeAll { $0.server == nil }
          let living = servers.compactMap(\.server)
          serverGauges.connections.record(living.reduce(0) { $0 + $1.connectionCount })
          serverGauges.waitingBytes.record(living.reduce(0) { $0 + $1.waitingBytes })
        }
        sample(at: loop.now.advanced(by: period), every: period)
      }
    }
  }
#endif
