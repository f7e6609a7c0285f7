import FeedStream
import FeedTLS
import Foundation
import TestSupport

/// Certificates and keys that the `openssl` command makes for these tests, once for all of them.
final class Papers: Sendable {
  static let all = Result { try Papers() }

  private let folder: String

  /// The root of most certificates.
  var roots: TrustedRoots { get throws { try .only(file: self("root.pem")) } }

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "papers-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = """
      set -e
      cd "$0"
      printf '[req]\\ndistinguished_name=dn\\n[dn]\\n[root]\\nbasicConstraints=critical,CA:TRUE\\n' >settings
      for name in localhost other.example '*.wild.example'; do
        printf '[%s]\\nbasicConstraints=CA:FALSE\\nsubjectAltName=DNS:%s,IP:127.0.0.1\\n' "$name" "$name" >>settings
      done
      sed -i 's/^subjectAltName=DNS:other.example.*/subjectAltName=DNS:other.example,DNS:more.example/' settings
      printf '[lines]\\nbasicConstraints=CA:FALSE\\nsubjectAltName=@names\\n[names]\\n' >>settings
      printf 'DNS.1=localhost\\nDNS.2=guest.example\\\\nadmin.example\\n' >>settings
      printf '[long]\\nbasicConstraints=CA:FALSE\\nsubjectAltName=@many\\n[many]\\n' >>settings
      for number in $(seq 1200); do printf 'DNS.%s=name%s.wild.example\\n' $number $number; done >>settings
      make() { # name, section, subject, root
        openssl req -x509 -config settings -extensions "$2" -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -sha256 \\
          -days 3650 -subj "/CN=$3" -keyout "$1.key" -out "$1.pem" ${4:+-CA "$4.pem" -CAkey "$4.key"} 2>>log
      }
      make root root 'Test root'
      make stranger root 'A stranger'
      make intermediate root 'Between' root
      make localhost localhost localhost root
      make other other.example other.example root
      make wild '*.wild.example' '*.wild.example' root
      make alone localhost localhost
      make strange localhost localhost stranger
      make deep localhost localhost intermediate
      make lines lines localhost root
      make client other.example client.example root
      make long long client.example root
      cat deep.pem intermediate.pem >chain.pem
      """
    guard try ChildProcess.run("/bin/sh", ["-c", script, folder], errors: .inherited).ending == .exited(0) else {
      throw Failed(log: (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "no openssl")
    }
    leftover = folder
    atexit { try? FileManager.default.removeItem(atPath: leftover) }
  }

  struct Failed: Error {
    let log: String
  }

  func callAsFunction(_ file: String) -> String { folder + "/" + file }

  func text(_ file: String) throws -> String { try String(contentsOfFile: self(file), encoding: .utf8) }

  func identity(_ name: String) throws -> TLSIdentity {
    try TLSIdentity(certificateFile: self(name == "deep" ? "chain.pem" : name + ".pem"), keyFile: self(name + ".key"))
  }

  func client(protocols: [String] = []) throws -> TLSClient { try TLSClient(trusting: roots, protocols: protocols) }

  func server(_ name: String = "localhost", protocols: [String] = []) throws -> TLSServer {
    try TLSServer(identity: identity(name), protocols: protocols)
  }
}

// Safe, because it is written once, before the process ends.
nonisolated(unsafe) private var leftover = ""
