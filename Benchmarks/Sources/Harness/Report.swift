import Foundation

/// The options of a benchmark's command line, and the ratios that it found.
///
///     streams [--short] [--record FILE | --check FILE] [--every SECONDS] [NAME …]
///
/// A ratio is a peer's cost divided by ours: larger is better.
public final class Report {
  public let isShort: Bool
  private let record, check: String?
  /// The polling interval in seconds, if the command line names one.
  public let every: Double?
  private let only: [String]
  private var found: [(key: String, ratio: Double)] = []
  private var targets: [String] = []
  private var left: [String] = []

  public init() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    func take(_ option: String) -> String? {
      guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
      defer { arguments.removeSubrange(index...index + 1) }
      return arguments[index + 1]
    }
    record = take("--record")
    check = take("--check")
    every = take("--every").flatMap(Double.init)
    isShort = arguments.contains("--short")
    only = arguments.filter { !$0.hasPrefix("--") }
  }

  /// True when the command line selects the benchmark with this name; a selected name may be a part of it.
  public func wants(_ name: String) -> Bool { only.isEmpty || only.contains { name.contains($0) } }

  /// Notes how a peer's cost compares to ours.
  public func note(_ key: String, _ ratio: Double) { found.append((key.replacing(" ", with: "_"), ratio)) }

  /// Allows keys that contain `part` to be missing in a short run.
  public func leaveOut(_ part: String) { left.append(part) }

  /// Notes whether a target is met.
  public func target(_ name: String, _ isMet: Bool, _ figure: String) {
    targets.append("| \(name) | \(figure) | \(isMet ? "met" : "**missed**") |")
  }

  /// Prints the targets, then records or checks the ratios: exits with 1 when one is below half its recorded value.
  public func finish() throws -> Never {
    if !targets.isEmpty {
      show("\n| Target | Found | |\n|---|---|---|")
      for target in targets { show(target) }
    }
    if let record {
      var recorded = try Self.read(record)
      for (key, ratio) in found { recorded[key] = ratio }
      let lines = recorded.sorted { $0.key < $1.key }.map { "\($0.key)\t\(number($0.value))\n" }
      try lines.joined().write(toFile: record, atomically: true, encoding: .utf8)
    }
    if let check {
      let recorded = try Self.read(check)
      precondition(!recorded.isEmpty, "\(check) has no ratios; record them first: Scripts/bench --record")
      var failures = 0
      for (key, ratio) in try best() {
        guard let was = recorded[key] else {
          show("\(key): no recorded ratio; record it: Scripts/bench --record")
          failures += 1
          continue
        }
        // NaN isn't enough either.
        if !(ratio >= was / 2) || !was.isFinite {
          show("\(key): the ratio fell from \(number(was)) to \(number(ratio))")
          failures += 1
        }
      }
      let missing = missing(of: recorded)
      for key in missing { show("\(key): recorded, and not found") }
      failures += missing.count
      if found.isEmpty {
        show("nothing was measured")
        failures += 1
      }
      show(failures == 0 ? "\(found.count) ratios hold" : "\(failures) of \(found.count) ratios do not hold")
      exit(failures == 0 ? 0 : 1)
    }
    exit(0)
  }

  /// The recorded ratios that this run didn't find; empty when the run was limited to some benchmarks.
  private func missing(of recorded: [String: Double]) -> [String] {
    guard only.isEmpty else { return [] }
    let benchmarks = Set(found.map { $0.key.prefix { $0 != "/" } })
    let keys = Set(found.map(\.key))
    return recorded.keys.filter { key in
      benchmarks.contains(key.prefix { $0 != "/" }) && !keys.contains(key) && !left.contains { key.contains($0) }
    }
    .sorted()
  }

  /// The ratios found, or those of an earlier try where they were better: `BEST` names the file that they are kept in.
  private func best() throws -> [(key: String, ratio: Double)] {
    guard let file = ProcessInfo.processInfo.environment["BEST"] else { return found }
    let earlier = try Self.read(file)
    let best = found.map { (key: $0.key, ratio: max($0.ratio, earlier[$0.key] ?? 0)) }
    try best.map { "\($0.key)\t\($0.ratio)\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
    return best
  }

  private static func read(_ path: String) throws -> [String: Double] {
    guard FileManager.default.fileExists(atPath: path) else { return [:] }
    var ratios: [String: Double] = [:]
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: "\t")
      guard parts.count == 2, let ratio = Double(parts[1]) else { continue }
      ratios[String(parts[0])] = ratio
    }
    return ratios
  }
}

/// Prints a line immediately, even into a pipe.
public func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A figure with a suitable number of digits.
public func number(_ value: Double?) -> String {
  guard let value else { return "" }
  return String(format: value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value)
}
