import FeedStream

// A cancellable that an optimized program needs for a moment only.
// Expects: 600 assigned

func assignAll() -> Int {
  var count = 0
  let subject = CurrentValueSubject<Int, Never>(0)
  for number in 1...300 {
    final class Model { var number = 0 }
    let first = Model()
    let second = Model()
    let one = subject.assign(to: \.number, on: first)
    subject.send(number)
    one.cancel()
    let other = Just(number).assign(to: \.number, on: second)
    other.cancel()
    if first.number == number { count += 1 }
    if second.number == number { count += 1 }
  }
  return count
}

print("\(assignAll()) assigned")
