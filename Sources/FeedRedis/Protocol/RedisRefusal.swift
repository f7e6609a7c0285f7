import Foundation
import PlainText

/// A server's refusal of a command.
public struct RedisRefusal: Error, Hashable, Sendable {
  /// The first word, such as `WRONGTYPE`, and the text after it.
  public let code: String
  public let message: String

  /// - Parameter text: the server's text: `WRONGTYPE Operation against a key holding the wrong kind of value`.
  public init(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    let first = words.first.map(String.init) ?? ""
    // On old servers, the error of a script may begin with other text.
    let isCode = !first.isEmpty && first.utf8.allSatisfy { 0x41...0x5A ~= $0 || $0 == 0x5F || 0x30...0x39 ~= $0 }
    code = isCode ? first : "ERR"
    message = isCode ? words.dropFirst().first.map(String.init) ?? "" : text
  }

  /// The kinds of refusals that are handled differently.
  public enum Kind: Hashable, Sendable {
    /// `READONLY`: a replica, or a primary that was demoted.
    case readOnly
    /// `OOM`: the memory that the server may use is full.
    case outOfMemory
    /// `LOADING`: the server has just started and is reading its file.
    case loading
    /// `NOAUTH`: the server requires a password.
    case passwordWanted
    /// `WRONGPASS`, or `ERR invalid password` from old servers.
    case wrongPassword
    /// `NOPERM`, even if a script reports it: this user may not run the command.
    case notPermitted
    /// `NOSCRIPT`: the server has no script with this digest.
    case unknownScript
    /// `BUSY`: another client's script has been running for too long.
    case busy
    /// `MOVED`, `ASK`, `CROSSSLOT`, `CLUSTERDOWN`: another node has the key, the keys are in several slots, or the
    /// cluster is down.
    case cluster
    /// `MISCONF`, `NOREPLICAS`: the server refuses writes, because it can't make them durable.
    case notWritable
    /// `MASTERDOWN`, `TRYAGAIN`, `UNBLOCKED`: the command may succeed soon.
    case unavailable
    /// `WRONGTYPE`: the key has a different type.
    case wrongType
    /// The number of the database is too high.
    case wrongDatabase
    /// `max number of clients reached`.
    case tooManyClients
    /// Anything else.
    case other
  }

  public var kind: Kind {
    switch code {
    case "READONLY": .readOnly
    case "OOM": .outOfMemory
    case "LOADING": .loading
    case "NOAUTH": .passwordWanted
    case "WRONGPASS": .wrongPassword
    case "NOPERM": .notPermitted
    case "NOSCRIPT": .unknownScript
    case "BUSY": .busy
    case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN": .cluster
    case "MISCONF", "NOREPLICAS": .notWritable
    case "MASTERDOWN", "TRYAGAIN", "UNBLOCKED": .unavailable
    case "WRONGTYPE": .wrongType
    default:
      if message.hasPrefix("invalid password") || message.hasPrefix("AUTH <password> called without any password") {
        .wrongPassword
      } else if message.hasPrefix("DB index is out of range") || message.hasPrefix("invalid DB index") {
        .wrongDatabase
      } else if message.hasPrefix("max number of clients") {
        .tooManyClients
      } else if message.hasPrefix("The user executing the script can't run this command") {
        .notPermitted
      } else {
        .other
      }
    }
  }
}

extension RedisRefusal: CustomStringConvertible {
  /// The refusal in the server's words, which are safe to print.
  public var description: String { (message.isEmpty ? code : "\(code) \(message)").printable }
}

extension RedisRefusal {
  /// The refusal for display: on one line, short, and without the password that an old server repeats.
  func shown(without password: String?) -> RedisRefusal {
    var text = message
    if let password, !password.isEmpty { text = text.replacingOccurrences(of: password, with: "…") }
    let shown = text.unicodeScalars.prefix(301).map { $0.isActedUpon ? " " : $0 }
    text = String(String.UnicodeScalarView(shown.prefix(300))) + (shown.count > 300 ? "…" : "")
    return RedisRefusal(code: String(code.prefix(40)), message: text)
  }

  private init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  /// The cluster node that a `MOVED` reply names; `nil` for any other refusal. An empty host means the node that
  /// replied.
  var movedTo: (host: String, port: Int)? {
    guard code == "MOVED", let end = message.split(separator: " ").last, let colon = end.lastIndex(of: ":"),
      let port = Int(end[end.index(after: colon)...]), 1...65_535 ~= port
    else { return nil }
    return (String(end[..<colon]), port)
  }
}
