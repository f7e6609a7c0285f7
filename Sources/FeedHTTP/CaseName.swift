/// The name of an enumeration's case without its details, such as `timedOut`.
package func caseName<Value>(of value: Value) -> String { String("\(value)".prefix { $0 != "(" }) }
