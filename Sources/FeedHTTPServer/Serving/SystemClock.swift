import CLibrary

/// The system's time of day.
public enum SystemClock {
  /// Seconds since 1970.
  public static func seconds() -> Int64 { Int64(time(nil)) }
}
