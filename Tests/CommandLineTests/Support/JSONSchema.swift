import Foundation

/// The part of JSON Schema (draft 2020-12) that the files of `docs/schema` use; anything else in them is a failure.
struct JSONSchema {
  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  private let root: [String: Any]

  /// The schema of `docs/schema/<name>.json`.
  init(named name: String) throws {
    let file = URL(filePath: #filePath).appending(path: "../../../../docs/schema/\(name).json").standardized
    let value = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    guard let root = value as? [String: Any] else { throw Violation(description: "\(name) is not a schema") }
    self.root = root
  }

  /// Checks each line.
  ///
  /// - Returns: the lines.
  @discardableResult func check(lines: String) throws -> [[String: Any]] {
    try lines.split(separator: "\n").map { line in
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      try check(value, root, at: "")
      guard let object = value as? [String: Any] else { throw Violation(description: "\(line) is not an object") }
      return object
    }
  }

  private static let known: Set<String> = [
    "$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties",
    "items",
    "minItems", "pattern", "format", "const", "enum", "oneOf", "anyOf",
  ]

  private func check(_ value: Any, _ schema: [String: Any], at place: String) throws {
    func fail(_ problem: String) -> Violation { Violation(description: "\(place): \(problem), and is \(value)") }
    let unknown = Set(schema.keys).subtracting(Self.known)
    guard unknown.isEmpty else { throw fail("the schema has \(unknown), which this test does not know") }
    if let reference = schema["$ref"] as? String {
      let target = reference.split(separator: "/").dropFirst().reduce(root as Any?) {
        ($0 as? [String: Any])?[String($1)]
      }
      guard let target = target as? [String: Any] else { throw fail("\(reference) leads nowhere") }
      try check(value, target, at: place)
    }
    if let type = schema["type"] as? String, !Self.isOf(value, type) { throw fail("should be of type \(type)") }
    if let constant = schema["const"], !Self.isSame(value, constant) { throw fail("should be \(constant)") }
    if let choice = schema["enum"] as? [Any], !choice.contains(where: { Self.isSame(value, $0) }) {
      throw fail("should be one of \(choice)")
    }
    if let pattern = schema["pattern"] as? String, let text = value as? String {
      guard try text.firstMatch(of: Regex(pattern)) != nil else { throw fail("should match \(pattern)") }
    }
    for (name, isEnough) in [("oneOf", { $0 == 1 }), ("anyOf", { $0 >= 1 })] as [(String, (Int) -> Bool)] {
      guard let schemas = schema[name] as? [[String: Any]] else { continue }
      var problems: [String] = []
      for one in schemas {
        do { try check(value, one, at: place) } catch { problems.append("\(error)") }
      }
      guard isEnough(schemas.count - problems.count) else { throw fail("fits \(name) not: \(problems)") }
    }
    if let object = value as? [String: Any] { try check(members: object, schema, at: place) }
    if let array = value as? [Any] {
      if let least = schema["minItems"] as? Int, array.count < least { throw fail("has too few items") }
      if let items = schema["items"] as? [String: Any] {
        for (index, item) in array.enumerated() { try check(item, items, at: "\(place)[\(index)]") }
      }
    }
  }

  private func check(members object: [String: Any], _ schema: [String: Any], at place: String) throws {
    for name in schema["required"] as? [String] ?? [] where object[name] == nil {
      throw Violation(description: "\(place): \(name) is missing in \(object)")
    }
    let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
    for (name, member) in object {
      if let property = properties[name] {
        try check(member, property, at: "\(place).\(name)")
      } else if schema["additionalProperties"] as? Bool == false {
        throw Violation(description: "\(place): \(name) is not in the schema")
      } else if let others = schema["additionalProperties"] as? [String: Any] {
        try check(member, others, at: "\(place).\(name)")
      }
    }
  }

  private static func isBoolean(_ value: Any) -> Bool {
    // Foundation represents a Boolean as a number whose C type is a character.
    (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
  }

  private static func isSame(_ one: Any, _ other: Any) -> Bool { (one as? NSObject)?.isEqual(other) ?? false }

  private static func isOf(_ value: Any, _ type: String) -> Bool {
    switch type {
    case "object": value is [String: Any]
    case "array": value is [Any]
    case "string": value is String
    case "integer":
      !isBoolean(value) && (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
    case "number": !isBoolean(value) && value is NSNumber
    case "boolean": isBoolean(value)
    case "null": value is NSNull
    default: false
    }
  }
}
