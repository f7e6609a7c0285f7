#if Tracing
  public import FeedHTTP
  public import FeedStream
  import Foundation
  public import Tracing

  extension HTTPClient {
    /// Creates a span for each request, and sends the span's identity to the server: in the `traceparent` field, if the
    /// tracer or propagator uses W3C Trace Context.
    ///
    ///     let client = CurlHTTPClient(on: loop).traced()
    ///
    /// The span ends when the response is complete, or, if its body is streamed, when the response begins. A failure or
    /// a status of 400 or above is an error. The operators below see the context in which the request was made, even if
    /// the response arrives later, so requests that they make belong to the same trace.
    ///
    /// - Parameters:
    ///   - context: the parent's context. By default, it is `ServiceContext.current` at the time of the subscription,
    ///     or, if there is none, at the time when the client's method is called.
    ///   - tracer: makes the spans; the process's tracer by default.
    ///   - instrument: adds fields to requests; the process's instrument by default.
    public func traced(
      in context: ServiceContext? = nil, tracer: (any Tracer)? = nil, instrument: (any Instrument)? = nil
    ) -> TracedHTTPClient {
      TracedHTTPClient(client: self, context: context, tracer: tracer, instrument: instrument)
    }
  }

  /// See ``FeedHTTP/HTTPClient/traced(in:tracer:instrument:)``.
  public struct TracedHTTPClient: HTTPClient {
    let client: any HTTPClient
    let context: ServiceContext?
    let tracer: (any Tracer)?
    let instrument: (any Instrument)?

    public var scheduler: (any LoopScheduler)? { client.scheduler }

    public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
      traced(request, client.get) { $0.status }
    }

    public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
      traced(request, client.open) { $0.status }
    }

    public func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
      traced(request, client.events(for:)) { if case .finished(let response) = $0 { response.status } else { nil } }
    }

    private func traced<Value>(
      _ request: HTTPRequest, _ send: @escaping (HTTPRequest) -> AnyPublisher<Value, HTTPError>,
      status: @escaping (Value) -> Int?
    ) -> AnyPublisher<Value, HTTPError> {
      let outer = ServiceContext.current
      return Deferred { [context, tracer, instrument] in
        let context = context ?? ServiceContext.current ?? outer
        let span = (tracer ?? InstrumentationSystem.tracer).startAnySpan(
          request.method.spanName, context: context ?? .topLevel, ofKind: .client)
        var traced = request
        (instrument ?? InstrumentationSystem.instrument).inject(span.context, into: &traced, using: Fields())
        guard span.isRecording else {
          span.end()
          return send(traced).inContext(context).eraseToAnyPublisher()
        }
        let url = request.url
        span.updateAttributes { attributes in
          attributes.add(request.method)
          attributes["url.full"] = Self.shown(url)
          attributes["server.address"] = url.host
          attributes["server.port"] = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        }
        let open = OpenSpan(span)
        return send(traced).handleEvents(
          receiveOutput: { if let code = status($0) { open.end(status: code, errorsFrom: 400) } },
          receiveCompletion: {
            if case .failure(let error) = $0 { open.end(error, type: caseName(of: error.kind)) } else { open.end() }
          }, receiveCancel: { open.end() }
        )
        .inContext(context)
        .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
    }

    /// The URL without the parts that may be secret: user, password, query and fragment.
    private static func shown(_ url: URL) -> String? {
      guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
      (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
      return parts.string
    }
  }

  private struct Fields: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPRequest) {
      carrier.headers.removeAll { $0.name.lowercased() == key.lowercased() }
      carrier.headers.append(HTTPRequest.Header(name: key, value: value))
    }
  }
#endif
