/// A mouse action, and the character position on the screen at which it happened.
///
/// A terminal reports mouse actions only when told to: ``reporting`` turns reports on, and ``quiet`` turns them off.
public struct TerminalMouse: Hashable, Sendable {
  public enum Action: Hashable, Sendable {
    /// A button was pressed: 0 is the left one, 1 the middle one, 2 the right one.
    case press(Int)
    /// A button was released; 3 if the terminal doesn't report which one.
    case release(Int)
    case wheelUp, wheelDown
  }

  public var action: Action
  /// The character's column, counted from 0 at the left.
  public var column: Int
  /// The character's row, counted from 0 at the top.
  public var row: Int

  public init(_ action: Action, column: Int, row: Int) {
    self.action = action
    self.column = column
    self.row = row
  }

  /// The bytes that make a terminal report buttons and the wheel, with decimal coordinates (xterm's modes 1000 and
  /// 1006).
  public static let reporting: Chunk = "\u{1B}[?1000h\u{1B}[?1006h"
  /// The bytes that make a terminal stop reporting mouse actions.
  public static let quiet: Chunk = "\u{1B}[?1006l\u{1B}[?1000l"

  /// Decodes a decimal report: `ESC [ < 0 ; 12 ; 3 M`, or with `m` when the button was released (xterm's mode 1006).
  init?(sequence: Chunk) {
    guard let end = sequence.last, end == UInt8(ascii: "M") || end == UInt8(ascii: "m") else { return nil }
    let numbers = sequence.dropFirst(3).dropLast().text.split(separator: ";", omittingEmptySubsequences: false)
      .map { Int($0) }
    guard numbers.count == 3, let code = numbers[0], let column = numbers[1], let row = numbers[2], column > 0, row > 0
    else { return nil }
    self.init(code: code, isRelease: end == UInt8(ascii: "m"), column: column - 1, row: row - 1)
  }

  /// Decodes a report of three bytes, from a terminal that doesn't support decimal reports: `ESC [ M` and then code,
  /// column and row, each plus 32 (xterm's mode 1000).
  init?(bytes: Chunk) {
    guard bytes.count == 3, bytes.allSatisfy({ $0 >= 32 }), bytes[1] > 32, bytes[2] > 32 else { return nil }
    let code = Int(bytes[0]) - 32
    self.init(code: code, isRelease: code & 0b110_0011 == 3, column: Int(bytes[1]) - 33, row: Int(bytes[2]) - 33)
  }

  /// - Returns: `nil` for movements, the horizontal wheel and other buttons.
  private init?(code: Int, isRelease: Bool, column: Int, row: Int) {
    guard code >= 0 else { return nil }
    // Ignore Shift, Alt and Ctrl.
    let action: Action
    switch code & ~0b1_1100 {
    case 64: action = .wheelUp
    case 65: action = .wheelDown
    case let button where button < 4: action = isRelease ? .release(button) : .press(button)
    default: return nil
    }
    self.init(action, column: column, row: row)
  }
}
