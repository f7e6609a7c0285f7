#if Lifecycle
  public import FeedHTTPServer
  public import FeedStream
  public import ServiceLifecycle

  /// A group of loops as a service, which shuts them down at a graceful shutdown.
  ///
  /// In a `ServiceGroup`, put it before the services that use it: they are stopped in the opposite order.
  extension EventLoopGroup: Service {
    public func run() async throws {
      do { try await gracefulShutdown() } catch is CancellationError {}
      // On a thread of its own, as it waits for threads.
      await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
        shutdown { ended.resume() }
      }
    }
  }

  /// The servers of a group of loops as a service: at a graceful shutdown they complete the requests that have begun, within
  /// ten seconds, and end event streams.
  ///
  /// Idle connections stay open for 0.2 s for a last request. ``service(within:grace:)`` chooses other times.
  extension HTTPServer.Group: Service {
    public func run() async throws { try await service().run() }

    /// The servers as a service.
    ///
    /// - Parameters:
    ///   - deadline: the time after which remaining connections are closed; 10 s by default.
    ///   - grace: the time for which idle connections stay open for a last request; 0.2 s by default.
    public func service(
      within deadline: StreamInstant.Stride = .seconds(10), grace: StreamInstant.Stride = .milliseconds(200)
    ) -> some Service {
      Stopping(servers: self, deadline: deadline, grace: grace)
    }

    private struct Stopping: Service {
      let servers: HTTPServer.Group
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
