import Foundation
import TestSupport
import Testing

/// The files in `Packaging/monitoring`. `FleetCommandTests` checks that a gateway has the metrics that they name.
enum MonitoringFile: String, CaseIterable {
  case alerts = "alerts.yml"
  case alertsTest = "alerts-test.yml"
  case dashboard = "dashboard.json"

  func data() throws -> Data {
    try Data(
      contentsOf: URL(filePath: #filePath).resolvingSymlinksInPath()
        .appending(path: "../../../Packaging/monitoring/\(rawValue)").standardized)
  }

  /// The names of the samples of a gateway's metrics.
  static func names(in metrics: String) -> Set<String> {
    var names: Set<String> = []
    for family in metrics.matches(of: /# TYPE (\S+) (\S+)/) {
      let suffixes = family.output.2 == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      for suffix in suffixes { names.insert(String(family.output.1) + suffix) }
    }
    return names
  }

  /// The names of the metrics in the file.
  func metrics() throws -> Set<String> {
    let text = String(decoding: try data(), as: UTF8.self)
    return Set(text.matches(of: /feed_(?:fleet|serve)_[a-z_]+/).map { String($0.output) })
  }
}

@Suite(.settled) struct MonitoringTests {
  @Test func `the dashboard is JSON, and its panels don't overlap`() throws {
    struct Dashboard: Decodable {
      struct Panel: Decodable {
        struct Place: Decodable {
          let x, y, w, h: Int
        }
        let id: Int
        let title: String
        let gridPos: Place
      }
      let panels: [Panel]
    }
    let panels = try JSONDecoder().decode(Dashboard.self, from: MonitoringFile.dashboard.data()).panels
    #expect(Set(panels.map(\.id)).count == panels.count)
    var cells: Set<[Int]> = []
    for panel in panels {
      let place = panel.gridPos
      #expect(place.x + place.w <= 24, "\(panel.title)")
      for x in place.x..<place.x + place.w {
        for y in place.y..<place.y + place.h { #expect(cells.insert([x, y]).inserted, "\(panel.title)") }
      }
    }
  }

  @Test func `the dashboard counts each worker once, although every gateway reports it`() throws {
    let text = String(decoding: try MonitoringFile.dashboard.data(), as: UTF8.self)
    let expressions = text.matches(of: /"expr": "([^"]*feed_fleet_worker_[^"]*)"/)
    #expect(!expressions.isEmpty)
    for expression in expressions {
      #expect(expression.output.1.contains("max by (worker) ("), "\(expression.output.1)")
    }
  }
}
