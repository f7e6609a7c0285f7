import FeedStream
import FeedStreamTesting
import Glibc

// models                            1,000 cases of every operator
// models <operator> <count> [seed]  this many cases of one operator, from a seed
// models --list                     the operators
let all = definitions
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--list" {
  for definition in all { print(definition.name) }
  exit(0)
}
let chosen = arguments.first.flatMap { $0 == "all" ? nil : $0 }
let selected = all.filter { chosen == nil || $0.name == chosen }
guard !selected.isEmpty else {
  print("There is no operator \"\(chosen ?? "")\": models --list lists them.")
  exit(2)
}
let count = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1000
let firstSeed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1
var found = 0
var played: UInt64 = 0
watchForTraps()
for definition in selected {
  var difference: UInt64?
  for seed in firstSeed..<(firstSeed + count) {
    current = (definition.name, seed)
    played += 1
    if judge(definition, Case(seed: seed, definition.shape)).differs {
      difference = seed
      break
    }
  }
  guard let difference else {
    print("\(definition.name): \(count) cases")
    continue
  }
  found += 1
  let small = shrink(Case(seed: difference, definition.shape)) { judge(definition, $0).differs }
  print("\(definition.name) DIFFERS: models '\(definition.name)' 1 \(difference)")
  print(describe(small))
  print(describe(judge(definition, small)))
}
print("\(played) cases, \(found) operators differ")
exit(found == 0 ? 0 : 1)
