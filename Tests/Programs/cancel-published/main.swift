// A property's subscription is cancelled on another thread. Release builds name the property, too.
// Traps: @Published: touched on a different thread
import Dispatch
import FeedStream

final class Model { @Published var number = 0 }

let model = Model()
nonisolated(unsafe) let subscription = model.$number.sink { _ in }
model.number = 1
let group = DispatchGroup()
DispatchQueue.global().async(group: group) { subscription.cancel() }
group.wait()
print("not stopped")
