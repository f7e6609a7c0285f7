/// Removes the parts of a case that aren't needed to reproduce the difference.
func shrink(_ scenario: Case, whileDiffers differs: (Case) -> Bool) -> Case {
  var best = scenario
  var isSmaller = true
  while isSmaller {
    isSmaller = false
    for candidate in smaller(best) where differs(candidate) {
      best = candidate
      isSmaller = true
      break
    }
  }
  return best
}

private func smaller(_ scenario: Case) -> [Case] {
  var cases: [Case] = []
  func add(_ change: (inout Case) -> Void) {
    var copy = scenario
    change(&copy)
    cases.append(copy)
  }
  for index in scenario.script.indices.dropFirst().reversed() { add { $0.script.remove(at: index) } }
  for index in scenario.reactions.indices { add { $0.reactions.remove(at: index) } }
  for (index, source) in scenario.sources.enumerated() {
    for place in source.values.indices where source.kind != .endless {
      add {
        $0.sources[index].values.remove(at: place)
        $0.sources[index].gaps.remove(at: place + 1)
      }
    }
  }
  for probe in scenario.initial.indices {
    if scenario.answers[probe].contains(where: { $0 != 0 }) { add { $0.answers[probe] = [0] } }
    if scenario.initial[probe] != .max { add { $0.initial[probe] = .max } }
  }
  return cases
}

func describe(_ scenario: Case) -> String {
  func demand(_ count: Int) -> String { count == .max ? "all" : "\(count)" }
  func text(_ action: Action) -> String {
    switch action {
    case .send(let source, let value): "send \(value) to source \(source)"
    case .end(let source, let ending): "end source \(source): \(ending)"
    case .request(let probe, let count): "subscriber \(probe) asks for \(demand(count))"
    case .cancel(let probe): "subscriber \(probe) cancels"
    case .attach(let probe): "subscriber \(probe) subscribes"
    }
  }
  var lines = ["  parameters \(scenario.parameters.numbers)"]
  for (index, source) in scenario.sources.enumerated() {
    let ending = source.ending.map { "\($0)" } ?? "open"
    lines.append("  source \(index): \(source.kind) \(source.values), gaps \(source.gaps), \(ending)")
  }
  for probe in scenario.initial.indices {
    lines.append(
      "  subscriber \(probe): first \(demand(scenario.initial[probe])), then \(scenario.answers[probe]) in turn")
  }
  for step in scenario.script { lines.append("  \(step.time) ms: \(text(step.action))") }
  for reaction in scenario.reactions {
    lines.append("  within event \(reaction.event) of subscriber \(reaction.probe): \(text(reaction.action))")
  }
  return lines.joined(separator: "\n")
}

func describe(_ outcome: Outcome) -> String {
  func text(_ entry: Entry?) -> String {
    guard let entry else { return "-" }
    let what: String
    switch entry.what {
    case .source(let spec, let isLive, let delivered, let demand):
      let asked = demand == .max ? "all" : "\(demand)"
      what = "source \(entry.who) of \(spec) \(isLive ? "open, asked for \(asked)" : "over"), delivered \(delivered)"
    default: what = "subscriber \(entry.who): \(entry.what)"
    }
    return "\(entry.time) ms \(what)"
  }
  var lines: [String] = []
  for index in 0..<max(outcome.got.count, outcome.expected.count) {
    let got = index < outcome.got.count ? outcome.got[index] : nil
    let expected = index < outcome.expected.count ? outcome.expected[index] : nil
    if got == expected {
      lines.append("    \(text(got))")
    } else {
      lines.append("  > expected \(text(expected)); got \(text(got))")
    }
  }
  return lines.joined(separator: "\n")
}
