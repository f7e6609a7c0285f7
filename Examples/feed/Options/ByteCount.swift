import ArgumentParser
import Foundation

/// A number of bytes in the notation of the command line, such as 150MB or 64MiB.
struct ByteCount {
  let bytes: Int

  private static let units: [(name: String, bytes: Int)] = [
    ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000),
    ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000), ("b", 1),
  ]

  init(_ bytes: Int) { self.bytes = bytes }

  /// - Throws: `ValidationError` for text that isn't a size, or a size under a megabyte or over a terabyte.
  init(parsing text: String) throws {
    let lower = text.lowercased()
    let unit = Self.units.first { lower.hasSuffix($0.name) }
    let number = lower.dropLast(unit?.name.count ?? 0)
    guard let value = Double(number), !number.isEmpty, number.allSatisfy({ $0.isNumber || $0 == "." }),
      case let bytes = value * Double(unit?.bytes ?? 1), (1e6...1e12).contains(bytes)
    else { throw ValidationError("Write a size as a number and a unit, such as 150MB or 1GB, from 1MB to 1000GB.") }
    self.bytes = Int(bytes)
  }

  /// The number in a suitable unit, with a decimal place only if that is useful.
  var text: String {
    let unit = Self.units[3...5].last { bytes >= $0.bytes } ?? ("bytes", 1)
    let value = Double(bytes) / Double(unit.bytes)
    let number = unit.bytes > 1 && value < 100 ? String(format: "%.1f", value) : "\(Int(value.rounded()))"
    return "\(number) \(unit.bytes > 1 ? (unit.name == "kb" ? "kB" : unit.name.uppercased()) : unit.name)"
  }
}
