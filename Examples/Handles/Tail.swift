import FeedStream

/// `tail -n +1 -F file`: a file and the bytes that are appended to it, even after a different file takes its name.
func tail(_ arguments: [String], on loop: EventLoop) -> AnyCancellable {
  File(arguments[0]).following(from: .beginning, on: loop)
    .write(to: .output, on: loop)
    .run()
}
