/// The ids assigned to events by the caller instead of the log, and the events' numbers.
struct GivenIDs: Sendable {
  private var ids: [Int: String] = [:]
  private var numbers: [String: Int] = [:]

  subscript(number: Int) -> String? { ids[number] }

  /// The first event that has the id: a client that names it may get another event with that id again, but misses none.
  func number(of id: String) -> Int? { numbers[id] }

  mutating func give(_ id: String, to number: Int) {
    // A browser takes no id with a null.
    precondition(
      !id.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 },
      "EventLog: an id has a line break or a null; leave it out")
    ids[number] = id
    if numbers[id] == nil { numbers[id] = number }
  }

  mutating func forget(_ number: Int) {
    guard let id = ids.removeValue(forKey: number), numbers[id] == number else { return }
    numbers[id] = nil
  }
}
