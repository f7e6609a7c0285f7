#if Tracing
  public import FeedHTTPServer
  import FeedStream
  public import Tracing

  extension HTTPMiddleware {
    /// Creates a span for each request, as part of the trace that the request's `traceparent` identifies.
    ///
    ///     routes.use(.tracing())
    ///
    /// `ServiceContext.current` is the span's context while the handler runs, and while its response is being
    /// subscribed to. Values that a timer, a queue or a connection delivers later have no context: put
    /// ``FeedStream/Publisher/inContext(_:)`` below `delay`, `receive(on:)` and similar operators. Responses that
    /// a `traced()` client receives have the context of their request. The span ends when the response begins, or when
    /// the client disconnects. The names of the span and of its attributes follow OpenTelemetry's semantic conventions:
    /// the name is the method and the route, such as `GET /feeds/:name`, or `HTTP` and the route if the method isn't
    /// standard. The query is left out, because it may contain secrets.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of the server's URLs. The server can't detect whether its connections use TLS.
    ///   - tracer: makes the spans; the process's tracer by default.
    ///   - instrument: reads the fields of requests; the process's instrument by default.
    public static func tracing(
      scheme: String = "http", tracer: (any Tracer)? = nil, instrument: (any Instrument)? = nil
    ) -> Self {
      Self { next in
        { request in
          var context = ServiceContext.topLevel
          (instrument ?? InstrumentationSystem.instrument).extract(request.headers, into: &context, using: Fields())
          let span = (tracer ?? InstrumentationSystem.tracer).startAnySpan(
            request.method.spanName, context: context, ofKind: .server)
          guard span.isRecording else {
            context = span.context
            span.end()
            switch try ServiceContext.withValue(context, operation: { try next(request) }) {
            case .now(let response): return .now(response)
            case .later(let publisher): return .later(publisher.inContext(context).eraseToAnyPublisher())
            }
          }
          span.updateAttributes { attributes in
            attributes.add(request.method)
            attributes["url.path"] = request.path
            attributes["url.scheme"] = scheme
            attributes["client.address"] = request.peer.host ?? "\(request.peer)"
            if let port = request.peer.port { attributes["client.port"] = port }
          }
          let open = OpenSpan(span)
          func end(_ status: HTTPStatus) {
            open.name(method: request.method, route: request.route)
            open.end(status: status.code, errorsFrom: 500)
          }
          do {
            switch try ServiceContext.withValue(open.context, operation: { try next(request) }) {
            case .now(let response):
              end(response.status)
              return .now(response)
            case .later(let publisher):
              let watched = publisher.inContext(open.context).handleEvents(
                receiveOutput: { end($0.status) },
                receiveCompletion: {
                  if case .failure(let error) = $0 { open.end(error, type: "\(type(of: error))") }
                }, receiveCancel: { open.end() })
              return .later(watched.eraseToAnyPublisher())
            }
          } catch {
            open.end(error, type: "\(type(of: error))")
            throw error
          }
        }
      }
    }
  }

  private struct Fields: Extractor {
    /// The values of all fields with this name, as a list: proxies may divide `tracestate` into several fields.
    func extract(key: String, from carrier: HTTPHeaders) -> String? {
      let values = carrier.values(of: key)
      return values.isEmpty ? nil : values.joined(separator: ",")
    }
  }
#endif
