var definitions: [Definition] {
  [
    oneToOne, filtering, ending, reducing, collecting, holding, following, joining, merging, switching, sharing,
  ].flatMap { $0 }
}
