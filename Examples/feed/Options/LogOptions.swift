import ArgumentParser

/// The format of messages on standard error.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
  case text, json
}

/// The options of every command that logs.
struct LogOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Report each step on standard error.")
  var verbose = false

  @Option(
    help: ArgumentHelp(
      "Format of messages on standard error: text, or one JSON object per line.", valueName: "text|json"))
  var logFormat = LogFormat.text
}
