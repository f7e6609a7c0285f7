extension Int {
  /// A number of bytes in a suitable unit: `32 MiB`, `1.5 GiB`, `100 bytes`.
  package var byteSize: String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    guard let (unit, size) = units.first(where: { self >= $0.1 }) else {
      return "\(self) \(self == 1 ? "byte" : "bytes")"
    }
    let tenths = (Double(self) / Double(size) * 10).rounded()
    let whole = Int(tenths) / 10
    return tenths.truncatingRemainder(dividingBy: 10) == 0
      ? "\(whole) \(unit)" : "\(whole).\(Int(tenths) % 10) \(unit)"
  }
}
