#if Metrics
  public import CoreMetrics
  public import FeedRedis

  extension RedisClient {
    /// Records the duration of each command, up to its reply, as ``MetricNames/databaseOperationDuration``.
    ///
    ///     let client = RedisClient(address, on: loop).metered()
    ///
    /// The attributes are the system (`redis`), the command's name, the server's address and port, and, if the command
    /// failed or was refused, `error.type`. Sets ``FeedRedis/RedisClient/onReply``.
    ///
    /// - Parameter factory: makes the metrics; the process's factory by default.
    /// - Returns: this client.
    @discardableResult public func metered(factory: any MetricsFactory = MetricsSystem.factory) -> RedisClient {
      typealias Name = MetricNames.Attribute
      let durations = RequestDurations(
        MetricNames.databaseOperationDuration,
        [Name.databaseSystem, Name.databaseOperation, Name.serverAddress, Name.serverPort, Name.errorType], factory)
      onReply = { report in
        let (server, port) = report.address.server
        durations.record(report.duration, ["redis", report.name, server, port, report.error?.type ?? ""])
      }
      return self
    }
  }

  extension RedisAddress {
    /// The values of ``MetricNames/Attribute/serverAddress`` and ``MetricNames/Attribute/serverPort``.
    fileprivate var server: (address: String, port: String) {
      switch place {
      case .internet(let host, let port): (host, "\(port)")
      case .unix(let path): (path, "")
      case .sentinel(_, let name): (name, "")
      }
    }
  }

  extension RedisError {
    /// The code of a refusal, such as `WRONGTYPE`, or the kind of failure.
    fileprivate var type: String {
      switch self {
      case .unreachable: "unreachable"
      case .closed: "closed"
      case .timedOut: "timedOut"
      case .refused(_, let refusal): refusal.code
      case .unreadable: "unreadable"
      case .tooManyWaiting: "tooManyWaiting"
      case .notSecure: "notSecure"
      case .noSuchPrimary: "noSuchPrimary"
      case .unsupported: "unsupported"
      case .clientClosed: "clientClosed"
      }
    }
  }
#endif
