extension Int {
  /// A number of bytes in a suitable unit: `32 MiB`, `1.5 GiB`, `100 bytes`.
  package var byteSize: String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    // A size that would be rounded to 1024 of one unit is 1 of the next.
    guard let (unit, size) = units.first(where: { self >= $0.1 - $0.1 / 20_480 }) else {
      return "\(self) \(self == 1 ? "byte" : "bytes")"
    }
    let tenths = (Double(self) / Double(size) * 10).rounded()
    let whole = Int(tenths) / 10
    return tenths.truncatingRemainder(dividingBy: 10) == 0
      ? "\(whole) \(unit)" : "\(whole).\(Int(tenths) % 10) \(unit)"
  }
}
