import Foundation

extension Error {
  /// The system's reason for a file error, or else Foundation's description.
  package var systemReason: String {
    let underlying = (self as? CocoaError)?.underlyingErrors.lazy.compactMap { $0 as? POSIXError }.first
    return underlying.map { String(cString: strerror($0.code.rawValue)) } ?? (self as NSError).localizedDescription
  }
}
