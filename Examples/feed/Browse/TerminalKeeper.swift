import Foundation

/// Restores the terminal when this process no longer can: after `SIGKILL`.
///
/// A helper shell reads from a pipe whose write end only this process has, so the read returns when this process ends.
/// If the terminal's mode was changed, the helper shows the main screen again. It restores the mode only if no other
/// program is using the terminal, because an interactive shell that continues sets the mode itself.
final class TerminalKeeper {
  private static let script = """
    trap "" HUP INT TERM QUIT TSTP TTIN TTOU
    read -r word
    [ "$(stty -g <"$3")" = "$1" ] && exit
    read -r status </proc/self/stat
    set -- "$1" "$2" "$3" ${status##*) }
    case "$9" in "$6" | -1) stty "$1" <"$3" ;; esac
    printf %s "$2" >"$3"
    """

  /// The words of the helper's command line; none if there is no terminal.
  private let words: [String]
  private var process: pid_t = 0
  private var pipe: Int32 = -1

  /// Watches the terminal on standard output; does nothing if the helper can't be started.
  ///
  /// - Parameter farewell: the text to send to the terminal.
  init(farewell: String) {
    var mode = termios()
    guard tcgetattr(STDOUT_FILENO, &mode) == 0, let name = ttyname(STDOUT_FILENO) else {
      words = []
      return
    }
    words = ["sh", "-c", Self.script, "sh", Self.text(mode), farewell, String(cString: name)]
    start()
  }

  /// Watches again after `end()`, to restore the first mode.
  func start() {
    guard pipe < 0, !words.isEmpty else { return }
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { return }
    for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
    defer { for word in arguments + environment { free(word) } }
    let code = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, &environment)
    close(ends[0])
    if code == 0 { pipe = ends[1] } else { close(ends[1]) }
  }

  deinit { end() }

  /// Stops watching, because the terminal was restored. Idempotent.
  func end() {
    guard pipe >= 0 else { return }
    kill(process, SIGKILL)
    close(pipe)
    pipe = -1
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1, errno == EINTR {}
  }

  /// The mode in the format of `stty -g`.
  private static func text(_ mode: termios) -> String {
    var mode = mode
    let characters = withUnsafeBytes(of: &mode.c_cc) { Array($0) }
    let flags = [mode.c_iflag, mode.c_oflag, mode.c_cflag, mode.c_lflag]
    return (flags.map { String($0, radix: 16) } + characters.map { String($0, radix: 16) }).joined(separator: ":")
  }
}
