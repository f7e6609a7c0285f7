import ArgumentParser
import FeedHTTP
import Foundation

/// The options for a request's fields and credentials.
struct RequestOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send a header field; may be repeated. The field is sent only to the URL's own origin (scheme, host and port).",
      valueName: "Name: value"))
  var header: [String] = []

  @Option(
    help: ArgumentHelp(
      "HTTP credentials; briefly visible in process listings.", valueName: "name:password"))
  var user: String?

  @Flag(help: "Read credentials from ~/.netrc, which must be accessible only to you.")
  var netrc = false

  @Option(
    help: ArgumentHelp("Read credentials from this file, which must be accessible only to you.", valueName: "file"),
    completion: .file())
  var netrcFile: String?

  // No message repeats the arguments, because they may be secret.
  func validate() throws {
    for field in header where Self.field(field) == nil {
      throw ValidationError("--header needs a name and a value, such as --header 'Accept-Language: de'.")
    }
    if let user, !user.contains(":") || user.hasPrefix(":") {
      throw ValidationError("--user needs a name and a password, such as --user name:password.")
    }
    if netrc, netrcFile != nil { throw ValidationError("Use --netrc or --netrc-file, not both.") }
    do {
      _ = try entries()
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Refuses options that would be sent to several hosts.
  func check(for addresses: [URL]) throws {
    guard addresses.count > 1, !header.isEmpty || user != nil else { return }
    throw ValidationError("--header and --user are for one feed; for several, use --netrc or --netrc-file.")
  }

  /// The fields to send to `url`'s origin. `--header` takes precedence over `--user`, and `--user` over the URL's own
  /// user and the netrc file.
  func headers(for url: URL) -> [HTTPRequest.Header] {
    var headers = header.compactMap(Self.field)
    guard !headers.contains(where: { $0.name.lowercased() == "authorization" }) else { return headers }
    if let user, let colon = user.firstIndex(of: ":") {
      let password = String(user[user.index(after: colon)...])
      headers.append(Credentials.basic(user: String(user[..<colon]), password: password).header)
    } else if url.user == nil, let host = url.host(), let found = try? entries()?.credentials(for: host) {
      headers.append(found.header)
    }
    return headers
  }

  /// The options to write in a similar command, without secrets.
  var placeholders: [String] {
    [
      header.isEmpty ? nil : "--header 'Name: value'", user.map { _ in "--user name:password" },
      netrc ? "--netrc" : nil, netrcFile.map { "--netrc-file \($0.shellWord)" },
    ].compactMap { $0 }
  }

  /// The netrc file; `nil` if no option names one.
  func entries() throws(Netrc.Failure) -> Netrc? {
    if let netrcFile { return try Netrc(path: netrcFile) }
    guard netrc else { return nil }
    let home = ProcessInfo.processInfo.environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return try Netrc(path: (home ?? NSHomeDirectory()) + "/.netrc")
  }

  static func field(_ text: String) -> HTTPRequest.Header? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let name = String(text[..<colon])
    let value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    let header = HTTPRequest.Header(name: name, value: value)
    return header.isValid ? header : nil
  }
}
