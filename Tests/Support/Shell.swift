import Foundation

/// The output of a line of shell script.
package func shell(_ script: String) async throws -> String {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread {
      guard let pipe = popen(script, "re") else {
        return continuation.resume(throwing: POSIXError(.init(rawValue: errno) ?? .EIO))
      }
      var bytes: [UInt8] = []
      while case let byte = getc(pipe), byte != EOF { bytes.append(UInt8(byte)) }
      pclose(pipe)
      continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
    }
  }
}
