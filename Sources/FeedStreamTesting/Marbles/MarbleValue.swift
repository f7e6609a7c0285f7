/// A type whose values can be written as characters in a marble diagram, without a definition.
public protocol MarbleValue {
  /// Makes the value that `marble` represents; `nil` if it doesn't represent any.
  init?(marble: Character)
}

extension Character: MarbleValue {
  public init(marble: Character) { self = marble }
}

extension String: MarbleValue {
  public init(marble: Character) { self.init(marble) }
}

extension Int: MarbleValue {
  /// Makes the value that a digit represents, or returns `nil` for other characters.
  public init?(marble: Character) {
    guard let digit = marble.wholeNumberValue else { return nil }
    self = digit
  }
}

/// The failure for `#`, unless a test defines a different one.
public struct MarbleFailure: Error, Equatable, CustomStringConvertible {
  public init() {}
  public var description: String { "#" }
}
