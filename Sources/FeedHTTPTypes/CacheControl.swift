/// The directives of a `Cache-Control` field (RFC 9111, section 5.2), as they were sent: in upper or lower case, quoted
/// or not, repeated, contradictory or malformed.
///
/// A name counts only where a directive can occur, so `extension="max-age=60"` doesn't set an age.
package struct CacheControl: Sendable {
  private enum Argument: Equatable, Sendable {
    case none
    case text(String)
    case malformed
  }

  /// The value of a directive in seconds.
  package enum Seconds: Equatable, Sendable {
    case absent
    case value(Double)
    /// The value isn't a number, or the directive occurs twice with different numbers.
    case invalid
  }

  private let directives: [(name: String, argument: Argument)]

  /// - Parameter lines: the field's values, one for each line of the header.
  package init(_ lines: [String]) { directives = lines.flatMap(Self.directives) }

  package var isEmpty: Bool { directives.isEmpty }

  /// True when a directive has this name, whatever its argument.
  package func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// True if a response must not be used without validation: the unqualified form of `no-cache` (section 5.2.2.4).
  package var wantsValidation: Bool { has("no-cache") && fields(of: "no-cache") == nil }

  /// The seconds of the directive with this name. Numbers above 2^31 are treated as 2^31 (section 1.2.2).
  package func seconds(_ name: String) -> Seconds {
    var found = Seconds.absent
    for directive in directives where directive.name == name {
      guard case .text(let text) = directive.argument, let number = Self.seconds(text) else { return .invalid }
      guard found == .absent || found == .value(number) else { return .invalid }
      found = .value(number)
    }
    return found
  }

  /// The seconds of each directive with this name and an argument; `nil` for an argument that isn't a number.
  package func allSeconds(_ name: String) -> [Double?] {
    directives.filter { $0.name == name && $0.argument != .none }.map {
      if case .text(let text) = $0.argument { Self.seconds(text) } else { nil }
    }
  }

  /// True if the directive with this name occurs without an argument (`max-stale`).
  package func hasWithoutArgument(_ name: String) -> Bool {
    directives.contains { $0.name == name && $0.argument == .none }
  }

  /// The names of the fields that the qualified form of a directive lists, in lower case: `no-cache="a, b"`. `nil` when
  /// the directive occurs in its unqualified form, or is malformed; empty when it doesn't occur.
  package func fields(of name: String) -> Set<String>? {
    var fields: Set<String> = []
    for directive in directives where directive.name == name {
      guard case .text(let text) = directive.argument else { return nil }
      let names = text.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
      guard !names.isEmpty else { return nil }
      fields.formUnion(names)
    }
    return fields
  }

  /// Parses a number of seconds, which must consist only of digits.
  package static func seconds(_ text: String) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    let most = 2_147_483_648.0
    return Int(text).map { min(Double($0), most) } ?? most
  }

  /// The seconds of `Age` (RFC 9111, section 5.1): its first member, if it is a number; otherwise 0.
  package static func age(_ headers: HTTPHeaders) -> Double {
    headers["Age"]?.listMembers.first.flatMap { seconds(String($0)) } ?? 0
  }

  // MARK: Reading

  private static func directives(in line: String) -> [(name: String, argument: Argument)] {
    line.listMembers.compactMap { member in
      guard let equals = member.firstIndex(of: "=") else { return (member.lowercased(), .none) }
      let name = member[..<equals].trimmed.lowercased()
      guard !name.isEmpty else { return nil }
      // Spaces around "=" are not allowed, and their meaning is unclear.
      guard name.utf8.count == member[..<equals].utf8.count else { return (name, .malformed) }
      return (name, argument(member[member.index(after: equals)...]))
    }
  }

  private static func argument(_ text: Substring) -> Argument {
    guard text.first == "\"" else { return HTTPSyntax.isToken(text) ? .text(String(text)) : .malformed }
    guard text.count >= 2, text.last == "\"" else { return .malformed }
    var unquoted = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if isEscaped || character != "\\" { unquoted.append(character) }
      isEscaped = !isEscaped && character == "\\"
    }
    return isEscaped ? .malformed : .text(unquoted)
  }
}
