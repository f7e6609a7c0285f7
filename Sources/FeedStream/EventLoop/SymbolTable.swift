internal import CLibUV
import CLibrary

/// Finds the names of functions at addresses in this process. It reads the symbol tables in the files of the program
/// and its libraries, because only names that other files need are loaded into memory.
enum SymbolTable {
  struct Symbol {
    /// The mangled name; `nil` if there is none.
    var name: String?
    /// The name of the file. `offset` is the address in that file.
    var file = "?"
    var offset: UInt
  }

  static func symbols(at addresses: [UInt]) -> [Symbol] {
    var symbols = addresses.map { Symbol(offset: $0) }
    #if os(Linux)
      var byFile: [String: [Int]] = [:]
      for (index, address) in addresses.enumerated() {
        var image = clibuv_image()
        guard clibuv_find_image(UnsafeRawPointer(bitPattern: address), &image) != 0, let path = image.path else {
          continue
        }
        let name = String(cString: path)
        symbols[index].file = String(name.split(separator: "/").last ?? "?")
        symbols[index].offset = address - UInt(bitPattern: image.base)
        if let symbol = image.symbol { symbols[index].name = String(cString: symbol) }
        // The program's own path may be relative to a folder that is no longer the current one.
        byFile[name.hasPrefix("/") ? name : "/proc/self/exe", default: []].append(index)
      }
      for (path, indices) in byFile { read(path, indices, addresses, &symbols) }
    #endif
    return symbols
  }

  #if os(Linux)
    private static func read(_ path: String, _ indices: [Int], _ addresses: [UInt], _ symbols: inout [Symbol]) {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      var info = stat()
      guard fstat(descriptor, &info) == 0, info.st_size > MemoryLayout<Elf64_Ehdr>.size,
        let memory = mmap(nil, Int(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED
      else { return }
      defer { munmap(memory, Int(info.st_size)) }
      let file = UnsafeRawBufferPointer(start: memory, count: Int(info.st_size))
      let head = file.loadUnaligned(as: Elf64_Ehdr.self)
      guard file.prefix(5).elementsEqual([0x7F, 0x45, 0x4C, 0x46, 2]) else { return }
      // The file isn't position-independent: its addresses are those of the process.
      let isFixed = head.e_type == UInt16(ET_EXEC)
      let sections = (0..<Int(head.e_shnum)).compactMap {
        entry(file, Int(head.e_shoff) + $0 * Int(head.e_shentsize), as: Elf64_Shdr.self)
      }
      guard let table = sections.first(where: { $0.sh_type == UInt32(SHT_SYMTAB) }),
        Int(table.sh_link) < sections.count, let all = part(file, table),
        let names = part(file, sections[Int(table.sh_link)])
      else { return }
      let wanted = indices.map { (index: $0, address: UInt64(isFixed ? addresses[$0] : symbols[$0].offset)) }
      let lowest = wanted.map(\.address).min() ?? 0
      let highest = wanted.map(\.address).max() ?? 0
      let entries = all.bindMemory(to: Elf64_Sym.self)
      for position in 0..<entries.count {
        let entry = entries[position]
        let value = entry.st_value
        guard value <= highest, value &+ entry.st_size > lowest, entry.st_info & 0xF == UInt8(STT_FUNC) else {
          continue
        }
        for (index, address) in wanted where value <= address && address < value &+ entry.st_size {
          guard Int(entry.st_name) < names.count else { continue }
          let bytes = UnsafeRawBufferPointer(rebasing: names[Int(entry.st_name)...]).prefix { $0 != 0 }
          symbols[index].name = String(decoding: bytes, as: UTF8.self)
        }
      }
    }

    private static func entry<T>(_ file: UnsafeRawBufferPointer, _ offset: Int, as type: T.Type) -> T? {
      guard offset >= 0, offset <= file.count - MemoryLayout<T>.size else { return nil }
      return file.loadUnaligned(fromByteOffset: offset, as: type)
    }

    private static func part(_ file: UnsafeRawBufferPointer, _ section: Elf64_Shdr) -> UnsafeRawBufferPointer? {
      let (start, size) = (section.sh_offset, section.sh_size)
      guard start <= UInt64(file.count), size <= UInt64(file.count) - start, start % 8 == 0 || section.sh_type != 2
      else {
        return nil
      }
      return UnsafeRawBufferPointer(rebasing: file[Int(start)..<Int(start + size)])
    }
  #endif
}
