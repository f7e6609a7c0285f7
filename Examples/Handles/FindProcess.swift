import FeedStream

/// `ps | grep`: one program's output is the other program's input.
func findProcess(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  Subprocess("ps", ["-eo", "pid,args"]).output(on: loop)
    .pipe(through: Subprocess("grep", ["-e", arguments[0]]), on: loop)
    .write(to: .output, on: loop)
    .run()
}
