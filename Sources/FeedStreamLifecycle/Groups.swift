#if Lifecycle
  public import FeedHTTPServer
  public import FeedStream
  public import ServiceLifecycle

  /// Turns a group of loops into a service that shuts the loops down on graceful shutdown.
  ///
  /// In a `ServiceGroup`, list it before the services that use it, because services are stopped in reverse order.
  extension EventLoopGroup: Service {
    public func run() async throws {
      do { try await gracefulShutdown() } catch is CancellationError {}
      // `shutdown` uses a separate thread, because it blocks until the loops' threads have ended.
      await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
        shutdown { ended.resume() }
      }
    }
  }

  /// Turns the servers of a group of loops into a service. On graceful shutdown, they complete requests in progress
  /// within ten seconds, and end event streams.
  ///
  /// Idle connections stay open for 0.2 s for one last request. To choose other times, use ``service(within:grace:)``.
  extension HTTPServerGroup: Service {
    public func run() async throws { try await service().run() }

    /// The servers as a service.
    ///
    /// - Parameters:
    ///   - deadline: the time after which remaining connections are closed; 10 s by default.
    ///   - grace: the time that idle connections stay open for one last request; 0.2 s by default.
    public func service(
      within deadline: StreamInstant.Stride = .seconds(10), grace: StreamInstant.Stride = .milliseconds(200)
    ) -> some Service {
      Stopping(servers: self, deadline: deadline, grace: grace)
    }

    private struct Stopping: Service {
      let servers: HTTPServerGroup
      let deadline: StreamInstant.Stride
      let grace: StreamInstant.Stride

      func run() async throws {
        do { try await gracefulShutdown() } catch is CancellationError { return servers.close() }
        await withTaskCancellationHandler {
          await servers.shutdown(within: deadline, grace: grace)
        } onCancel: {
          servers.close()
        }
      }
    }
  }
#endif
