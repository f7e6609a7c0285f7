/// A number and what it counts: "1 feed", "2 feeds".
///
/// - Parameter name: the singular; the plural ends with an additional "s".
func counted(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }
