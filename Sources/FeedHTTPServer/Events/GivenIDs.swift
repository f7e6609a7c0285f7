/// The ids that the caller, instead of the log, has assigned to events, and the events' numbers.
struct GivenIDs: Sendable {
  private var ids: [Int: String] = [:]
  private var numbers: [String: Int] = [:]

  subscript(number: Int) -> String? { ids[number] }

  /// The number of the first event with the id: a client that sends this id may get later events with the same id
  /// again, but won't miss any.
  func number(of id: String) -> Int? { numbers[id] }

  mutating func give(_ id: String, to number: Int) {
    // Browsers ignore an id with a null character.
    precondition(
      !id.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 },
      "EventLog: an id must not contain a line break or a null character")
    ids[number] = id
    if numbers[id] == nil { numbers[id] = number }
  }

  mutating func forget(_ number: Int) {
    guard let id = ids.removeValue(forKey: number), numbers[id] == number else { return }
    numbers[id] = nil
  }
}
