#if Tracing
  import FeedHTTP
  import Tracing

  /// A span that ends only once: either explicitly or when it is released.
  final class OpenSpan {
    private var span: (any Span)?
    let context: ServiceContext

    init(_ span: any Span) { (self.span, context) = (span, span.context) }

    deinit { span?.end() }

    /// Names the span after the route that has been chosen, if any.
    func name(method: HTTPMethod, route: String?) {
      guard let route else { return }
      span?.operationName = "\(method.spanName) \(route)"
      span?.attributes["http.route"] = route
    }

    /// Ends the span with the status of the response.
    ///
    /// - Parameter least: the lowest status that counts as an error.
    func end(status: Int, errorsFrom least: Int) {
      span?.attributes["http.response.status_code"] = status
      if status >= least {
        span?.attributes["error.type"] = "\(status)"
        span?.setStatus(SpanStatus(code: .error))
      }
      span.take()?.end()
    }

    /// Ends the span with an error.
    func end(_ error: any Error, type: String) {
      span?.attributes["error.type"] = type
      span?.recordError(error)
      span?.setStatus(SpanStatus(code: .error))
      span.take()?.end()
    }

    func end() { span.take()?.end() }
  }

  extension HTTPMethod {
    /// The method in the name of a span.
    var spanName: String { isStandard ? rawValue : "HTTP" }
  }

  extension SpanAttributes {
    /// Adds the method: as `_OTHER` and the original, if it isn't standard.
    mutating func add(_ method: HTTPMethod) {
      self["http.request.method"] = method.telemetryName
      if !method.isStandard { self["http.request.method_original"] = method.rawValue }
    }
  }
#endif
