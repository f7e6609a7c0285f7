import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct DateTests {
  static let dates: [(String, String?)] = [
    ("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
    ("Thu, 01 Jan 2004 19:48:21 +0100", "2004-01-01T18:48:21Z"),
    ("Mon, 01 January 2004 19:48:21 EST", "2004-01-02T00:48:21Z"),
    ("1 Jan 04 19:48 GMT", "2004-01-01T19:48:00Z"),
    ("01 Jan 99", "1999-01-01T00:00:00Z"),
    ("Thu,1 Jan 2004 9:08:07 Z", "2004-01-01T09:08:07Z"),
    ("01-Jan-2004 19:48:21", "2004-01-01T19:48:21Z"),
    ("Jan 1, 2004 7:48 PM", "2004-01-01T19:48:00Z"),
    ("Thu Jan  1 19:48:21 2004", "2004-01-01T19:48:21Z"),
    ("Thu, 01 Jan 2004 19:48:21 GMT+02:00", "2004-01-01T17:48:21Z"),
    ("Thu, 01 Jan 2004 19:48:21 (no zone)", "2004-01-01T19:48:21Z"),
    ("Thursday, January 1st, 2004 at 12:05 am", "2004-01-01T00:05:00Z"),
    ("12/31/2003 23:59", "2003-12-31T23:59:00Z"),
    ("31.12.2003", "2003-12-31T00:00:00Z"),
    ("2003-12-31T10:14:55Z", "2003-12-31T10:14:55Z"),
    ("2003-12-31T10:14:55.123+01:00", "2003-12-31T09:14:55Z"),
    ("2003-12-31 10:14:55 -0800", "2003-12-31T18:14:55Z"),
    ("2003-12-31t10:14z", "2003-12-31T10:14:00Z"),
    ("2003-12-31T10", "2003-12-31T10:00:00Z"),
    ("20031231T101455Z", "2003-12-31T10:14:55Z"),
    ("20031231", "2003-12-31T00:00:00Z"),
    ("2003-335", "2003-12-01T00:00:00Z"),
    ("2003-12", "2003-12-01T00:00:00Z"),
    ("2003", "2003-01-01T00:00:00Z"),
    ("2003/12/31 10:14", "2003-12-31T10:14:00Z"),
    ("2004-02-29T23:59:60Z", "2004-03-01T00:00:00Z"),
    ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
    ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ("2003-02-29", nil), ("2003-13-01", nil), ("32 Jan 2004", nil), ("yesterday", nil), ("", nil), ("12:00", nil),
    ("2003-12-31T25:00:00Z", nil), ("2003-12-31T24:00:00Z", "2004-01-01T00:00:00Z"), ("2003-12-31T24:30:00Z", nil),
    ("Wed, 31 Dec 2003 10:14:55 EST5EDT", "2003-12-31T10:14:55Z"), ("99999999999999999999", nil), ("- - - -", nil),
  ]

  /// Dates found in feeds or in other readers' tests, or written by the standard functions of languages.
  static let odd: [(String, String?)] = [
    // JavaScript, Go, Java, Apache.
    ("Mon Jan 02 2006 15:04:05 GMT-0700 (MST)", "2006-01-02T22:04:05Z"),
    ("Mon Jan 02 2006 15:04:05 GMT-0700 (Mountain Standard Time)", "2006-01-02T22:04:05Z"),
    ("Mon Jan 02 2006 15:04:05 GMT+0300 (Arabian Standard Time)", "2006-01-02T12:04:05Z"),
    ("Mon Jan 02 2006 15:04:05 GMT+1100 (Magadan Standard Time)", "2006-01-02T04:04:05Z"),
    ("Mon Jan 02 2006 15:04:05 GMT+1200 (Marshall Islands Time)", "2006-01-02T03:04:05Z"),
    ("2006-01-02T15:04:05+03:00 (Arab Standard Time)", "2006-01-02T12:04:05Z"),
    ("Mon Jan 02 15:04:05 NOVT 2006", "2006-01-02T15:04:05Z"), ("Jan 2 15:04:05MAGT 2006", "2006-01-02T15:04:05Z"),
    ("2006-01-02 15:04:05 +0100 CET", "2006-01-02T14:04:05Z"), ("2006-01-02 15:04:05.0", "2006-01-02T15:04:05Z"),
    ("02/Jan/2006:15:04:05 +0000", "2006-01-02T15:04:05Z"),
    // Mistakes.
    ("Mon, 02 Jan 2006 15:04:05 --0700", "2006-01-02T22:04:05Z"), ("2006-01-02T12:35:9+01:00", "2006-01-02T11:35:09Z"),
    ("Mon, 2 Jan 2006 15:4:5 +0000", "2006-01-02T15:04:05Z"), ("2006-01-02T15:04:05:-0700", "2006-01-02T22:04:05Z"),
    ("2006-01-02T15:04:05-07:00:00", "2006-01-02T22:04:05Z"), ("2006-01-02T15:04:05:00", "2006-01-02T15:04:05Z"),
    ("Mon, 02 Jan 2006 15:04:05 +9999", "2006-01-02T15:04:05Z"), ("2006-01-02T15:04:05+25:00", "2006-01-02T15:04:05Z"),
    ("Mon, 02 Jan 2006 15.04.05 +0000", "2006-01-02T15:04:05Z"), ("Mon, 02 Jan 2006 15h04", "2006-01-02T15:04:00Z"),
    ("Mon, 02 Jan 2006 15:04:05 GMT; edited", "2006-01-02T15:04:05Z"),
    // Orders and separators.
    ("January 2, 2006 - 3:04 PM", "2006-01-02T15:04:00Z"), ("2006-01-02 3:04:05 p.m.", "2006-01-02T15:04:05Z"),
    ("2006-01-02 at 15:04:05", "2006-01-02T15:04:05Z"), ("2006.01.02 15:04", "2006-01-02T15:04:00Z"),
    ("20060102150405", "2006-01-02T15:04:05Z"), ("06-1-2 15:04", "2006-01-02T15:04:00Z"),
    ("2006-Jan-02", "2006-01-02T00:00:00Z"), ("2006 Jan 2 15:04", "2006-01-02T15:04:00Z"),
    ("13/02/2006", "2006-02-13T00:00:00Z"), ("January 2006", "2006-01-01T00:00:00Z"),
    // Seconds and milliseconds since 1970.
    ("1136214245", "2006-01-02T15:04:05Z"), ("1136214245000", "2006-01-02T15:04:05Z"), ("2136214245", nil),
    // Other languages.
    ("mar. 14 juin 2010", "2010-06-14T00:00:00Z"), ("10:00 mar. 14 juin 2010", "2010-06-14T10:00:00Z"),
    ("mer, 16 nov 2022 00:38:15 +0100", "2022-11-15T23:38:15Z"), ("jeu, 02 févr. 2006", "2006-02-02T00:00:00Z"),
    ("mer, 02 août 2006 15:04:05 +0000", "2006-08-02T15:04:05Z"), ("Di, 02 Mai 2006", "2006-05-02T00:00:00Z"),
    ("Do, 02 MÄR 2006 15:04:05 +0100", "2006-03-02T14:04:05Z"), ("2. Dezember 2006", "2006-12-02T00:00:00Z"),
    ("sáb, 02 dic 2006 15:04:05 +0000", "2006-12-02T15:04:05Z"), ("2 de enero de 2006", "2006-01-02T00:00:00Z"),
    ("mar, 02 mag 2006 15:04:05 +0000", "2006-05-02T15:04:05Z"), ("do, 02 mrt 2006", "2006-03-02T00:00:00Z"),
    ("Seg, 02 Out 2006 15:04:05 -0300", "2006-10-02T18:04:05Z"), ("2 paź 2006", "2006-10-02T00:00:00Z"),
    ("Пн, 02 Янв 2006 15:04:05 +0300", "2006-01-02T12:04:05Z"), ("02 мая 2006", "2006-05-02T00:00:00Z"),
    ("Κυρ, 02 Ιούλ 2006 15:04:05 +0300", "2006-07-02T12:04:05Z"), ("2006年01月02日", "2006-01-02T00:00:00Z"),
    ("2006年1月2日 15時04分05秒", "2006-01-02T15:04:05Z"), ("2006년 1월 2일 15:04:05", "2006-01-02T15:04:05Z"),
    ("2006-01-02 오후 3:04:05", "2006-01-02T15:04:05Z"),
    ("2006년 1월 2일 오후 3:04", "2006-01-02T15:04:00Z"),
  ]

  @Test(arguments: odd) func `dates written by faulty programs are parsed`(text: String, expected: String?) {
    #expect(FeedDate(text)?.description == expected)
  }

  @Test(arguments: dates) func `dates in the usual formats of feeds are parsed`(text: String, expected: String?) {
    #expect(FeedDate(text)?.description == expected)
    #expect(FeedDate("\n \(text)\t")?.description == expected)
  }

  /// As in dates: some languages use a name's genitive.
  static let months = [
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Jänner Februar März April Mai Juni Juli August September Oktober November Dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "januar februar mars april mai juni juli august september oktober november desember",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "január február március április május június július augusztus szeptember október november december",
    "jan. febr. márc. ápr. máj. jún. júl. aug. szept. okt. nov. dec.",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
  ]

  @Test(arguments: months) func `a month's name in each language is read`(names: String) {
    for (month, name) in names.split(separator: " ").enumerated() {
      #expect(
        FeedDate("2 \(name) 2006")?.description == "2006-\(month < 9 ? "0" : "")\(month + 1)-02T00:00:00Z", "\(name)")
    }
  }

  @Test func `a date's description parses to the same date`() {
    var seconds: Int64 = -62_135_596_800
    while seconds < 253_402_300_800 {
      let date = FeedDate(secondsSince1970: seconds)
      #expect(FeedDate(date.description) == date)
      seconds += 86_400 * 1_461 + 12_345
    }
  }
}
