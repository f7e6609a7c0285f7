import FeedHTTPServer
import FeedStream
import Foundation
import GRDB

// A JSON API over SQLite: run it, and then
// curl -i -d '{"title": "Milk"}' -H 'Content-Type: application/json' http://127.0.0.1:8080/todos
//
//   TodoServer [--port N] [--database file]

struct Todo: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "todo"
  var id: Int64?
  var title: String
  var done: Bool

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The body of a request: a new todo, or the changes to one.
struct TodoChange: Decodable, Sendable {
  var title: String?
  var done: Bool?

  func checked(isNew: Bool) throws -> TodoChange {
    if isNew, title == nil { throw ProblemDetails(.unprocessableContent, detail: "title is missing.") }
    if let title, title.allSatisfy(\.isWhitespace) || title.count > 500 {
      throw ProblemDetails(.unprocessableContent, detail: "title must have 1 to 500 characters, not only spaces.")
    }
    // SQLite would store only the part before it.
    if let title, title.utf8.contains(0) {
      throw ProblemDetails(.unprocessableContent, detail: "title must not contain a null character.")
    }
    return self
  }
}

struct TodoQuery: Decodable { var done: Bool? }

/// The todos, in a database that is used off the loop.
struct TodoStore {
  let database: DatabaseQueue
  let scheduler: any LoopScheduler

  init(path: String?, on scheduler: any LoopScheduler) throws {
    database = try path.map { try DatabaseQueue(path: $0) } ?? DatabaseQueue()
    self.scheduler = scheduler
    try database.write { db in
      try db.create(table: "todo", ifNotExists: true) { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("title", .text).notNull()
        table.column("done", .boolean).notNull()
      }
    }
  }

  func run<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) -> AnyPublisher<Value, any Error> {
    let (database, scheduler) = (database, scheduler)
    return Deferred {
      Future { promise in
        scheduler.offload {
          Result { try database.write(work) }
        } completion: {
          promise($0)
        }
      }
    }
    .eraseToAnyPublisher()
  }
}

/// The routes of the API.
func todoRoutes(_ store: TodoStore) -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.usesProblems = true
  routes.use(.requestIDs())
  routes.get("/todos") { request in
    Result { try request.query(as: TodoQuery.self) }.publisher
      .flatMap { query in
        store.run { db in
          try query.done.map { try Todo.filter(Column("done") == $0).fetchAll(db) } ?? Todo.fetchAll(db)
        }
      }
      .tryMap { try .json($0) }
  }
  routes.post("/todos") { request in
    request.decoded(as: TodoChange.self)
      .tryMap { try $0.checked(isNew: true) }
      .flatMap { change in
        store.run { db in
          var todo = Todo(title: change.title ?? "", done: change.done ?? false)
          try todo.insert(db)
          return todo
        }
      }
      .tryMap { todo in try .json(todo, .created, headers: ["Location": "/todos/\(todo.id ?? 0)"]) }
  }
  routes.get("/todos/:id") { request in
    Result { try request.parameter("id", as: Int64.self) }.publisher
      .flatMap { id in store.run { db in try Todo.fetchOne(db, key: id) } }
      .tryMap { todo -> ServerResponse in
        guard let todo else { throw HTTPStatus.notFound }
        return try .json(todo)
      }
  }
  routes.patch("/todos/:id") { request in
    Result { try request.parameter("id", as: Int64.self) }.publisher
      .flatMap { id in
        request.decoded(as: TodoChange.self)
          .tryMap { try $0.checked(isNew: false) }
          .flatMap { change in
            store.run { db -> Todo? in
              guard var todo = try Todo.fetchOne(db, key: id) else { return nil }
              if let title = change.title { todo.title = title }
              if let done = change.done { todo.done = done }
              try todo.update(db)
              return todo
            }
          }
      }
      .tryMap { todo -> ServerResponse in
        guard let todo else { throw HTTPStatus.notFound }
        return try .json(todo)
      }
  }
  routes.delete("/todos/:id") { request in
    Result { try request.parameter("id", as: Int64.self) }.publisher
      .flatMap { id in store.run { db in try Todo.deleteOne(db, key: id) } }
      .tryMap { wasThere -> ServerResponse in
        guard wasThere else { throw HTTPStatus.notFound }
        return .init(.noContent)
      }
  }
  return routes
}

var (port, path): (Int, String?) = (8080, nil)
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
  switch (option, arguments.popFirst()) {
  case ("--port", let value?) where Int(value).map { 0...65_535 ~= $0 } ?? false: port = Int(value) ?? port
  case ("--database", let value?): path = value
  default:
    FileHandle.standardError.write(Data("usage: TodoServer [--port N] [--database file]\n".utf8))
    exit(64)
  }
}

let loop = EventLoop()
let (server, store): (HTTPServer, TodoStore)
do {
  store = try TodoStore(path: path, on: loop)
  server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: loop)
} catch {
  // The port may be in use, or the file isn't a database.
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
let serving = server.serve(todoRoutes(store))
// On Ctrl-C or `kill`, let all running requests finish.
let endings = try [SIGINT, SIGTERM].map { try loop.signal($0) { server.shutdown() } }
for ending in endings { ending.keepsLoopAlive = false }
FileHandle.standardOutput.write(Data("http://127.0.0.1:\(server.address?.port ?? port)/\n".utf8))
loop.run()
