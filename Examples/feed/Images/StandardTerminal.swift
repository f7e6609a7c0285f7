import FeedStream
import Foundation
import TerminalImages

/// The terminal on standard output.
enum StandardTerminal {
  /// The time limit for a terminal's reply. All terminals reply, most within a millisecond; a remote one takes longer.
  static let deadline = Duration.seconds(1)

  /// The terminal's abilities, from its reply, or from the environment if it can't be queried.
  ///
  /// Keys that are typed in the meantime are put back into the terminal's input, if the system allows that, and Ctrl-C
  /// works.
  static func abilities(on session: Session, _ environment: [String: String]) -> AnyPublisher<TerminalAbilities, Never>
  {
    let known = TerminalAbilities(environment: environment)
    guard isOurs, let question = TerminalQuestion(environment: environment),
      let terminal = try? Terminal(on: session.loop)
    else { return Just(known.sized).eraseToAnyPublisher() }
    var typed: [TerminalKey] = []
    return
      terminal.events(asking: question, knowing: known, deadline: deadline, on: session.loop) {
        Output.put($0, to: STDOUT_FILENO)
      }
      .compactMap { event -> TerminalAbilities? in
        switch event {
        case .abilities(let abilities): return abilities.sized
        case .key(.control("c")): raise(SIGINT)
        case .key(.control("\\")): raise(SIGQUIT)
        case .key(let key): typed.append(key)
        }
        return nil
      }
      .first()
      .replaceError(with: known)
      .handleEvents(receiveCompletion: { _ in giveBack(typed) })
      .eraseToAnyPublisher()
  }

  /// True when standard output is a terminal, and this process may read from it: the system stops a background process
  /// that reads.
  private static var isOurs: Bool { Style.isScreen(STDOUT_FILENO) && tcgetpgrp(STDOUT_FILENO) == getpgrp() }

  /// False if the shell has put this process into the background. True for a terminal without a shell's job control.
  static var isForeground: Bool {
    let group = tcgetpgrp(STDOUT_FILENO)
    return group <= 0 || group == getpgrp()
  }

  /// Puts keys back into the terminal's input. Linux allows that if `dev.tty.legacy_tiocsti` is 1.
  private static func giveBack(_ keys: [TerminalKey]) {
    guard !keys.isEmpty else { return }
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return }
    defer { close(terminal) }
    for var byte in keys.flatMap(\.bytes) { _ = ioctl(terminal, UInt(TIOCSTI), &byte) }
  }
}

extension TerminalAbilities {
  /// The abilities with the size of a character from the system, if the terminal didn't report it.
  var sized: TerminalAbilities {
    var copy = self
    if cell == nil, let size = winsize(of: STDOUT_FILENO), size.ws_row > 0 {
      let (width, height) = (Int(size.ws_xpixel / size.ws_col), Int(size.ws_ypixel / size.ws_row))
      if width > 1, height > 1 { copy.cell = CellSize(width: width, height: height) }
    }
    return copy
  }
}

extension TerminalKey {
  /// The bytes that a terminal sends for the key.
  var bytes: [UInt8] {
    switch self {
    case .character(let character): Array(String(character).utf8)
    case .control(let letter): letter == " " ? [0] : letter.asciiValue.map { [$0 & 0x1F] } ?? []
    case .enter: [0x0D]
    case .tab: [0x09]
    case .backspace: [0x7F]
    case .escape: [0x1B]
    // An unknown sequence may be a part of a reply.
    case .other(let bytes): bytes.first == 0x1B ? [] : Array(bytes)
    // Users don't type these keys ahead.
    default: []
    }
  }
}
