import Foundation

/// The libraries that libcurl loads into the process.
enum LoadedLibraries {
  /// A function of one of these libraries, if it exists; `Function` is a C function's type.
  static func function<Function>(_ name: String, _: Function.Type) -> Function? {
    // Safe if the type is the one that the library's own header declares.
    dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
  }
}
