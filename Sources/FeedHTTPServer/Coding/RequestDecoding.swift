public import FeedStream
public import Foundation

extension ServerRequest {
  /// The value of a placeholder in the route, such as `:id` in `"/todos/:id"`.
  ///
  /// - Throws: 404 when the part can't be converted.
  public func parameter<Value: LosslessStringConvertible>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value {
    guard let text = parameters[name] else {
      preconditionFailure("ServerRequest.parameter: the route has no :\(name); use one of its placeholders")
    }
    guard let value = Value(text) else { throw HTTPStatus.notFound }
    return value
  }

  /// The query as a value: `?done=true&page=2` becomes a structure with these properties.
  ///
  /// - Throws: an ``ProblemDetails`` with 400 when a part is missing, malformed, or of the wrong type.
  public func query<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    do {
      return try FormDecoder().decode(type, from: query ?? "")
    } catch {
      throw ProblemDetails(.badRequest, detail: "The query is not valid: \(error.forPeople(of: "it"))")
    }
  }

  /// The body as a value, decoded from JSON; for an HTML form, pass `from: [.form]`; to accept either, pass both.
  ///
  ///     routes.post("/todos") { request in
  ///       request.decoded(as: NewTodo.self).tryMap { try .json(add($0), .created) }
  ///     }
  ///
  /// **Demand:** reads the body when a value is requested. **Failure:** the body's own failure, or a
  /// ``ProblemDetails``: 415 for a different content type or a compressed body, 400 for a malformed body, and 422
  /// for a well-formed body that can't be decoded as `type`.
  /// **Cancellation:** the rest of the body is discarded. **Policy:** holds the body, which has at most
  /// ``HTTPServerLimits/bodyBytes``.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, from forms: [RequestBodyForm] = [.json], decoder: JSONDecoder = JSONDecoder()
  ) -> AnyPublisher<Value, any Error> {
    let form: RequestBodyForm
    do { form = try RequestBodyForm.accepted(forms, method, headers) } catch {
      return Fail(error: error).eraseToAnyPublisher()
    }
    return body.whole().tryMap { try form.value(of: type, in: $0, decoder) }.eraseToAnyPublisher()
  }

  /// Writes the body to a file, which appears only when the body is complete.
  ///
  ///     routes.put("/files/:name") { request in
  ///       request.save(to: "uploads/\(id)").map { .init(.created) }
  ///     }
  ///     routes.limitBody(.put, "/files/:name", to: 1 << 30)
  ///
  /// **Demand:** reads the body once a value is requested, a chunk at a time, as fast as the disk accepts the chunks.
  /// Delivers `()` when the file is complete. **Failure:** the body's, or the disk's; no file is left,
  /// unless only its folder could not be synced.
  /// **Cancellation:** leaves no file, unless the file was already complete.
  public func save(to path: String) -> AnyPublisher<Void, any Error> {
    let written = body.write(to: File(path), .atomically, on: scheduler).mapError { $0.cause }
    return written.setOutputType(to: Void.self).append(Just(()).setFailureType(to: (any Error).self))
      .eraseToAnyPublisher()
  }

  /// The request with its whole body, for handlers that run on other threads.
  public func whole() -> AnyPublisher<WholeRequest, any Error> {
    let request = WholeRequest(
      method: method, path: path, query: query, host: host, parameters: parameters, headers: headers, notes: notes,
      id: id, body: Chunk())
    return body.whole().eraseFailureType().map { body in
      var request = request
      request.body = body
      return request
    }
    .eraseToAnyPublisher()
  }
}

/// The format of a body.
public enum RequestBodyForm: String, Hashable, Sendable {
  /// Includes types that end with `+json`.
  case json = "application/json"
  /// A form without files.
  case form = "application/x-www-form-urlencoded"
}

extension RequestBodyForm {
  /// The format of a body with these fields, if that format is one of `forms`.
  static func accepted(_ forms: [Self], _ method: HTTPMethod, _ headers: HTTPHeaders) throws -> Self {
    // A compressed body would be reported as malformed otherwise.
    guard headers.values(of: "Content-Encoding").allSatisfy({ HTTPSyntax.isSame($0, "identity") }) else {
      var problem = ProblemDetails(.unsupportedMediaType, detail: "Send the body uncompressed.")
      problem.headers = ["Accept-Encoding": "identity"]
      throw problem
    }
    if let form = Self(headers), forms.contains(form) { return form }
    let types = forms.map(\.rawValue).joined(separator: ", ")
    let wanted = forms.map(\.rawValue).joined(separator: " or ")
    var problem = ProblemDetails(.unsupportedMediaType, detail: "Send a body of type \(wanted).")
    problem.headers = [method == .patch ? "Accept-Patch" : "Accept": types]
    throw problem
  }

  private init?(_ headers: HTTPHeaders) {
    guard
      let type = headers["Content-Type"]?.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased()
    else { return nil }
    if type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") {
      self = .json
    } else if type == "application/x-www-form-urlencoded" {
      self = .form
    } else {
      return nil
    }
  }

  func value<Value: Decodable>(of type: Value.Type, in body: Chunk, _ decoder: JSONDecoder) throws -> Value {
    let data = self == .json ? body.withUnsafeBytes { Data($0) } : Data()
    do {
      return self == .form ? try FormDecoder().decode(type, from: body.text) : try decoder.decode(type, from: data)
    } catch let error as DecodingError {
      let isMalformed = if case .dataCorrupted(let context) = error { context.codingPath.isEmpty } else { false }
      var detail = error.forPeople()
      // With these options, the document may be malformed elsewhere.
      let isStrict = !decoder.allowsJSON5 && !decoder.assumesTopLevelDictionary
      if isMalformed, self == .json, isStrict, let byte = Self.flaw(in: data) {
        detail = "\(detail.dropLast()) around byte \(byte)."
      }
      throw ProblemDetails(isMalformed ? .badRequest : .unprocessableContent, detail: detail)
    }
  }

  /// The position of the first flaw in a document that isn't JSON, which the decoder's error doesn't state; `nil` if it
  /// isn't known.
  private static func flaw(in document: Data) -> Int? {
    // Reading it again takes longer than the first time. Don't do that for a client that sends large bodies.
    guard document.count <= 64 * 1024 else { return nil }
    do {
      _ = try JSONSerialization.jsonObject(with: document, options: .fragmentsAllowed)
      return nil
    } catch {
      // Use only the position: the description may quote the document. Foundation counts the bytes.
      let description = (error as NSError).userInfo["NSDebugDescription"] as? String ?? ""
      if description.hasPrefix("Unexpected end of file during JSON parse") { return document.count }
      let position = description.range(of: " around character ")
      return position.flatMap { Int(description[$0.upperBound...].prefix(while: \.isNumber)) }
    }
  }
}

extension Error {
  /// A decoder's error as a message for clients, with the error's location and reason.
  ///
  /// - Parameter whole: the subject of the message if the error has no location.
  fileprivate func forPeople(of whole: String = "The document") -> String {
    guard let error = self as? DecodingError else { return "\(self)" }
    func place(_ path: [any CodingKey]) -> String {
      var text = ""
      for key in path {
        text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? "" : ".") + key.stringValue
      }
      return text.isEmpty ? whole : text
    }
    // Clients don't need to know Swift's types.
    func name(of type: Any.Type) -> String {
      switch type {
      case is String.Type: "a string"
      case is Bool.Type: "true or false"
      case is any BinaryInteger.Type: "a whole number"
      case is any BinaryFloatingPoint.Type: "a number"
      case is any Collection.Type where "\(type)".hasPrefix("Dictionary<"): "an object"
      case is any Collection.Type: "an array"
      default: "of type \(type)"
      }
    }
    switch error {
    case .keyNotFound(let key, let context): return "\(place(context.codingPath + [key])) is missing."
    case .valueNotFound(_, let context): return "\(place(context.codingPath)) is null."
    case .typeMismatch(let type, let context): return "\(place(context.codingPath)) is not \(name(of: type))."
    case .dataCorrupted(let context) where context.codingPath.isEmpty: return "\(whole) is malformed."
    case .dataCorrupted(let context): return "\(place(context.codingPath)) is not valid."
    @unknown default: return "\(whole) is not valid."
    }
  }
}
