/// The faults of a virtual file system that haven't occurred.
struct VirtualFileFaults {
  /// A failure of the next operation of a kind.
  private final class Fault {
    let operation: VirtualFiles.Operation
    /// The path; `nil` means any path.
    let path: String?
    let code: Int32
    /// The number of bytes to read or write before the fault.
    var count: Int
    /// True if an operation has met the fault, but has read or written too few bytes.
    var isMet = false

    init(_ operation: VirtualFiles.Operation, of path: String?, code: Int32, after count: Int) {
      self.operation = operation
      self.path = path
      self.code = code
      self.count = count
    }

    var leftover: String {
      let path = path ?? "a file"
      let reason =
        isMet
        ? "too few bytes of \(path) were \(operation == .read ? "read" : "written")"
        : "nothing tried to \(operation) \(path)"
      return "The failure set here has not occurred: \(reason)."
    }
  }

  private var faults: [Fault] = []

  /// Adds a fault, which `audit` reports at `site` if it doesn't occur.
  mutating func add(
    _ operation: VirtualFiles.Operation, of path: String?, code: Int32, after count: Int, _ audit: Audit?,
    _ site: CallSite
  ) {
    let fault = Fault(operation, of: path, code: code, after: count)
    faults.append(fault)
    audit?.add(site) { [weak fault] in fault?.leftover }
  }

  /// Returns how many of `count` bytes pass before a fault, and the fault's error number, if any. If the bytes before
  /// the fault are read, the next read meets the fault.
  ///
  /// - Parameter destination: the file that the file at `path` will replace, if any.
  mutating func take(
    _ operation: VirtualFiles.Operation, _ path: String, replacing destination: String?, _ count: Int
  ) -> (passes: Int, code: Int32?) {
    let index = faults.firstIndex {
      $0.operation == operation && ($0.path == nil || $0.path == path || $0.path == destination)
    }
    guard let index else { return (count, nil) }
    let fault = faults[index]
    fault.isMet = true
    guard fault.count < max(count, 1) else {
      fault.count -= count
      return (count, nil)
    }
    let passes = fault.count
    fault.count = 0
    if operation != .read || passes == 0 { faults.remove(at: index) }
    return (passes, fault.code)
  }
}
