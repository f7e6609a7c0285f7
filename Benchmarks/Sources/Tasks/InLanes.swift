import Foundation
import Harness

/// The time that some work took, in seconds.
public struct Spent {
  public var wall: Double
  public var processor: Double
}

/// Makes `count` requests in `inFlight` tasks; each task makes its requests one after another.
public func inLanes(_ inFlight: Int, _ count: Int, _ request: @escaping @Sendable () async throws -> Void) -> Spent {
  let processor = Clock.processor.now
  let wall = Clock.wall.time {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<inFlight {
          group.addTask {
            for _ in stride(from: lane, to: count, by: inFlight) {
              do { try await request() } catch { fatalError("A request failed: \(error)") }
            }
          }
        }
      }
      done.signal()
    }
    done.wait()
  }.nanoseconds
  return Spent(wall: wall / 1e9, processor: (Clock.processor.now - processor) / 1e9)
}
