var definitions: [Definition] {
  [
    oneToOne, filtering, ending, reducing, collecting, holding, following, joining, merging, switching, sharing, timing,
    triggered, again, pacing, choosing, throwing,
  ].flatMap { $0 }
}
