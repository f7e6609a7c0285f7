// Only this folder depends on Foundation, so Foundation's coders adopt the protocols of `encode` and `decode` here.
import Foundation

extension JSONEncoder: TopLevelEncoder {}
extension JSONDecoder: TopLevelDecoder {}
extension PropertyListEncoder: TopLevelEncoder {}
extension PropertyListDecoder: TopLevelDecoder {}
