// Only this folder depends on Foundation: here its coders adopt the protocols of `encode` and `decode`.
import Foundation

extension JSONEncoder: TopLevelEncoder {}
extension JSONDecoder: TopLevelDecoder {}
extension PropertyListEncoder: TopLevelEncoder {}
extension PropertyListDecoder: TopLevelDecoder {}
