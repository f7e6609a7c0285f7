/// A value that a character in a marble diagram represents without a definition.
public protocol MarbleValue {
  /// Makes the value that `marble` represents; `nil` if it represents none.
  init?(marble: Character)
}

extension Character: MarbleValue {
  public init(marble: Character) { self = marble }
}

extension String: MarbleValue {
  public init(marble: Character) { self.init(marble) }
}

extension Int: MarbleValue {
  /// The digit.
  public init?(marble: Character) {
    guard let digit = marble.wholeNumberValue else { return nil }
    self = digit
  }
}

/// The failure for `#`, unless a test names another.
public struct MarbleFailure: Error, Equatable, CustomStringConvertible {
  public init() {}
  public var description: String { "#" }
}
