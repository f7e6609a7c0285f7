package import Foundation

/// The parts of a response that are needed to follow a redirect, whether the body is complete or streamed.
package protocol RedirectingResponse {
  var status: Int { get }
  var headers: HTTPHeaders { get }
  var url: URL { get }
  var redirects: [HTTPRedirect] { get set }
  var isPrivate: Bool? { get }
}

extension HTTPResponse: RedirectingResponse {}
extension StreamingResponse: RedirectingResponse {}
