// A published property is read on other threads while its own thread sets it.
// Traps: @Published: touched on a different thread
import Dispatch
import FeedStream

final class Model { @Published var names: [String] = [] }

nonisolated(unsafe) let model = Model()
let subscription = model.$names.sink { _ in }
model.names = ["the first name, too long to be inline"]
let end = DispatchTime.now() + 5
DispatchQueue.global().async {
  while DispatchTime.now() < end { _ = model.names.contains { !$0.hasPrefix("the") } }
}
var number = 0
while DispatchTime.now() < end {
  number += 1
  model.names = ["the name with the number \(number)"]
}
print("not stopped")
