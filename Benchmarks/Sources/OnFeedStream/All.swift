import Harness

/// Every pipeline, with this library.
public func pipelines() -> [Pipeline] {
  var all = Pipelines()
  addChains(to: &all)
  addCombining(to: &all)
  addOperators(to: &all)
  addScrabble(to: &all)
  return all.all
}
