/// The names of months, time zones, and the halves of a day, as used in dates.
enum DateNames {
  /// The number of a month, from its name or the beginning of its name, in English or another European language.
  static func month(_ word: Bytes) -> Int? {
    guard word.count >= 3, word.count <= 24 else { return nil }
    if let month = english.firstIndex(where: { word.startsIgnoringCase(with: $0) }) {
      return word.count <= 10 ? month + 1 : nil
    }
    guard word.allSatisfy({ $0.isLetter || $0 >= 0x80 || $0 == UInt8(ascii: ".") }) else { return nil }
    if word.contains(where: { $0 >= 0x80 }) {
      let lower = word.string.lowercased()
      return others.first { lower.hasPrefix($0.name) }?.month
    }
    return others.first { entry in
      entry.name.utf8.count <= word.count && zip(entry.name.utf8, word).allSatisfy { $0 == $1.lowercased }
    }?.month
  }

  private static let english: [StaticString] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Prefixes of non-English names, in lower case.
  private static let others: [(name: String, month: Int)] = {
    let names = [
      // German, French, Spanish, Italian, Portuguese, Dutch, Danish, Norwegian, Swedish, Icelandic, Polish, Turkish,
      // Hungarian.
      "jän ene gen sty oca", "fév fev lut şub", "mär már mrt maa mrz", "avr abr kwi nis ápr",
      "mai maí mag mei maj máj", "juin giu cze haz jún", "juil lug lip tem júl", "aoû aou ago ágú sie ağu",
      "set wrz eyl szept", "okt ott out paź eki", "lis kas nóv", "déc dez dic des gru ara",
    ]
    let cyrillic = [
      "янв січ", "фев лют", "мар бер", "апр кві", "мая май тра", "июн чер", "июл лип", "авг сер", "сен вер", "окт жов",
      "ноя лис", "дек гру",
    ]
    let greek = [
      "ιαν", "φεβ", "μάρ μαρ μάώ μαώ", "απρ", "μάι μαϊ μαι μαΐ", "ιούν ιουν ιον", "ιούλ ιουλ ιολ", "αύγ αυγ", "σεπ",
      "οκτ", "νοέ νοε", "δεκ",
    ]
    return [names, cyrillic, greek].flatMap { language in
      language.enumerated().flatMap { month, names in names.split(separator: " ").map { (String($0), month + 1) } }
    }
  }()

  /// The hours that the half of the day adds: 0 for `am`, 12 for `p.m.`.
  static func halfOfDay(_ word: Bytes) -> Int? {
    switch word.count {
    case 2 where word.equalsIgnoringCase("am"), 4 where word.equalsIgnoringCase("a.m."): 0
    case 2 where word.equalsIgnoringCase("pm"), 4 where word.equalsIgnoringCase("p.m."): 12
    default: nil
    }
  }

  private static let halves = [
    ("오전", "am"), ("午前", "am"), ("上午", "am"), ("오후", "pm"), ("午後", "pm"), ("下午", "pm"),
  ]

  /// An East Asian date, such as `2004年05月28日` or `2004-05-28 오후 1:31`, rewritten with hyphens, colons and `pm`; `nil`
  /// for any other text.
  static func numeric(_ text: Bytes) -> String? {
    let text = text.string
    guard text.contains(where: { "年년오午上下".contains($0) }) else { return nil }
    var result = ""
    for character in text {
      switch character {
      case "年", "년", "月", "월": result += "-"
      case "日", "일", "秒", "초": result += " "
      case "時", "时", "시": result += ":"
      case "分", "분": result += result.suffix(3).contains(":") ? ":" : " "
      case " " where result.last == "-" || result.last == ":": continue
      default: result.append(character)
      }
    }
    for (name, half) in halves {
      guard let range = result.firstRange(of: name) else { continue }
      result.replaceSubrange(range, with: " \(half) ")
    }
    while let last = result.last, last == ":" || last == " " || last == "-" { result.removeLast() }
    return result
  }

  /// The offset from UTC, in seconds: `Z`, `+0100`, `-5:30`, `EST`, `GMT+1`.
  static func offset(of zone: Bytes) -> Int? {
    guard let first = zone.first else { return nil }
    if first == UInt8(ascii: "+") || first == UInt8(ascii: "-") {
      let end = zone.part(1, zone.count).firstIndex { !$0.isDigit && $0 != UInt8(ascii: ":") } ?? zone.count - 1
      let digits = Array(zone.part(1, end + 1).filter { $0 != UInt8(ascii: ":") })
      // The seconds of an offset are ignored.
      guard [1, 2, 3, 4, 6].contains(digits.count),
        let number = Array(digits.prefix(4)).withBytes({ $0.integer })
      else { return nil }
      let (hours, minutes) = digits.count <= 2 ? (number, 0) : (number / 100, number % 100)
      guard hours < 24, minutes < 60 else { return nil }
      return (first == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
    let sign = zone.firstIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
    if let sign, sign <= 3, let offset = offset(of: zone.part(sign, zone.count)) { return offset }
    guard zone.count <= 5 else { return nil }
    let name = String(decoding: zone.map { $0 & 0xDF }, as: UTF8.self)
    return zones[name].map { Int($0 * 3600) }
  }

  private static let zones: [String: Double] = [
    "Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0, "EST": -5, "EDT": -4, "ET": -5, "CST": -6, "CDT": -5, "CT": -6,
    "MST": -7, "MDT": -6, "MT": -7, "PST": -8, "PDT": -7, "PT": -8, "AKST": -9, "AKDT": -8, "HST": -10, "AST": -4,
    "ADT": -3, "NST": -3.5, "NDT": -2.5, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "IST": 5.5, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
  ]
}
