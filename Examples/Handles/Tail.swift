import FeedStream

/// `tail -n +1 -F file`: a file and what is appended to it, whichever file has the name.
func tail(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  File(arguments[0]).following(from: .beginning, on: loop)
    .write(to: .output, on: loop)
    .run()
}
