// These files are empty without the `HTTPTypes` trait, which adds swift-http-types as a dependency.
#if HTTPTypes
  public import FeedHTTPTypes
  public import HTTPTypes

  extension HTTPFields {
    /// The same fields, in order. Fields whose name or value HTTP doesn't allow are left out.
    public init(_ headers: HTTPHeaders) {
      self.init()
      for (name, value) in headers {
        guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
        append(HTTPField(name: name, value: value))
      }
    }
  }

  extension HTTPHeaders {
    /// The same fields, in order.
    public init(_ fields: HTTPFields) { self.init(fields.map { (name: $0.name.rawName, value: $0.value) }) }
  }

  extension HTTPTypes.HTTPRequest.Method {
    /// The same method; `nil` if it isn't a token.
    public init?(_ method: HTTPMethod) { self.init(rawValue: method.rawValue) }
  }

  extension HTTPMethod {
    public init(_ method: HTTPTypes.HTTPRequest.Method) { self.init(rawValue: method.rawValue) }
  }
#endif
