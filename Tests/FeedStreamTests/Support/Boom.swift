/// An error.
struct Boom: Error, Equatable {}
