import FeedStream
import FeedStreamTesting
import Testing

typealias Upstream = AnyPublisher<Int, MarbleFailure>

/// An operator, as the rule suite runs it.
struct RuleRow: Sendable, CustomTestStringConvertible {
  /// The file that holds it, under `Sources/FeedStream`, without its ending.
  let file: String
  let name: String
  let verify: @Sendable () -> StreamRules.Summary

  var testDescription: String { name }

  /// - Parameters:
  ///   - traits: what the operator does that a plain one does not.
  ///   - survives: what it protects its subscriber from; by default everything, except what makes it trap on purpose.
  init<P: Publisher & SendableMetatype>(
    _ file: String, _ name: String, _ traits: StreamRules.Traits = [],
    survives: Set<Misbehaviour> = StreamRules.usualMisbehaviours, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping @Sendable (Upstream) -> P
  ) {
    self.file = file
    self.name = name
    verify = {
      StreamRules.verify(
        name, traits: traits, survives: survives, fileID: fileID, filePath: filePath, line: line, column: column, build)
    }
  }

  /// For an operator that uses time.
  init<P: Publisher & SendableMetatype>(
    _ file: String, _ name: String, timed traits: StreamRules.Traits,
    survives: Set<Misbehaviour> = StreamRules.usualMisbehaviours, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping @Sendable (Upstream, VirtualTimeScheduler) -> P
  ) {
    self.file = file
    self.name = name
    verify = {
      StreamRules.verify(
        name, traits: traits, survives: survives, fileID: fileID, filePath: filePath, line: line, column: column, build)
    }
  }
}

struct Refusal: Error {}

/// Throws at the third value.
func refusingTwo<T>(_ value: Int, _ result: T) throws -> T {
  if value == 2 { throw Refusal() }
  return result
}
