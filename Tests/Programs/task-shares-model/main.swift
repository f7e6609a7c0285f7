// A task iterates the values of a property while the main thread sets it.
// Traps: write the tasks as Task { @MainActor in … }
import FeedStream
import Foundation

final class Model: @unchecked Sendable {
  @Published var text = "the first text"

  func watch() {
    Task.detached { for await _ in self.$text.values {} }
  }
}

let model = Model()
model.watch()
usleep(50_000)
for number in 0..<20_000 { model.text = "the text with the number \(number)" }
print("not stopped")
