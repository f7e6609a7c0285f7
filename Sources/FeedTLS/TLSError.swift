import CLibrary
public import FeedStream
import PlainText

/// The reason why a connection is not secure, or no longer secure.
public enum TLSError: Error, Hashable, Sendable {
  // The certificate of the peer.
  /// The certificate has expired.
  case expired(certificate: String)
  /// The certificate isn't valid yet, or a clock is wrong.
  case notYetValid(certificate: String)
  /// The certificate is for other hosts; `names` are the hosts that it is valid for.
  case wrongHost(String, names: [String])
  /// The certificate is self-signed and isn't one of the trusted roots.
  case selfSigned(certificate: String)
  /// The certificate isn't signed by a trusted issuer, or an issuer is unknown.
  case untrusted(certificate: String, issuer: String)
  /// Any other problem with the certificate, in OpenSSL's words.
  case badCertificate(String, reason: String)
  /// The client was required to present a certificate, but presented none.
  case noCertificate

  // The session.
  /// The peer refused the connection, often because of a wrong or missing certificate on this side.
  case refused(reason: String)
  /// The peer supports none of the offered application protocols.
  case noCommonProtocol
  /// The peer does not speak TLS.
  case notTLS
  /// The peer violated the protocol, in OpenSSL's words.
  case protocolViolation(reason: String)
  /// The connection ended without `close_notify`: an attacker may have cut it off.
  case truncated
  /// The handshake took longer than this limit.
  case timedOut(StreamInstant.Stride)
  /// A listener ended the handshake, because it had the maximum of them, and too many were with the same address.
  case tooManyHandshakes
  /// The underlying connection failed, or could not be made.
  case system(SystemError)

  // Configuration.
  /// The certificates or the key can't be read.
  case unreadable(String, reason: String)
  /// The key doesn't match the certificate.
  case keyIsAnother(certificate: String)
  /// The host is neither a name nor an address for which a certificate can be valid.
  case badHost(String)
  /// An application protocol's name is empty or longer than 255 bytes.
  case badProtocol(String)
}

extension TLSError: CustomStringConvertible {
  // A certificate's names are untrusted.
  public var description: String { words.printable }

  private var words: String {
    switch self {
    case .expired(let certificate): "the certificate of \(certificate) has expired"
    case .notYetValid(let certificate): "the certificate of \(certificate) is not valid yet"
    case .wrongHost(let host, let names):
      "the certificate is for \(names.isEmpty ? "no host" : names.joined(separator: ", ")), not for \(host)"
    case .selfSigned(let certificate):
      "the certificate of \(certificate) is self-signed; if you trust it, add it to the trusted roots"
    case .untrusted(let certificate, let issuer):
      "the certificate of \(certificate) was issued by \(issuer), which is not trusted"
    case .badCertificate(let certificate, let reason): "the certificate of \(certificate) was rejected: \(reason)"
    case .noCertificate: "the client presented no certificate"
    case .refused(let reason): "the peer refused the connection: \(reason)"
    case .noCommonProtocol: "the peer supports none of the offered application protocols"
    case .notTLS: "the peer does not speak TLS"
    case .protocolViolation(let reason): "the peer violated the TLS protocol: \(reason)"
    case .truncated: "the connection ended without a TLS close_notify alert; the data may be incomplete"
    case .timedOut(let limit): "the TLS handshake took longer than \(limit)"
    case .tooManyHandshakes: "too many TLS handshakes with the same address are running"
    case .system(let error): "\(error)"
    case .unreadable(let what, let reason): "cannot read \(what): \(reason)"
    case .keyIsAnother(let certificate): "the private key does not match the certificate of \(certificate)"
    case .badHost(let host): "\(host.debugDescription) is not a host name or IP address"
    case .badProtocol(let name): "\(name.debugDescription) cannot be an application protocol: use 1 to 255 bytes"
    }
  }
}

extension TLSError {
  /// The closest system error number, with which byte streams fail.
  var code: Int32 {
    switch self {
    case .system(let error): error.code
    case .truncated: ECONNABORTED
    case .timedOut: ETIMEDOUT
    default: EPROTO
    }
  }
}
