/**
 * Removes the exports that nothing uses from a WebAssembly side module, as PHP's extensions are. Emscripten makes objects for each
 * of them when it loads the module: for half of the 16,000 of intl, 30 MB in each worker.
 */

const headerBytes = 8;
const exportSection = 7;
/** What Emscripten and PHP call. */
const entryPoints = ["get_module", "__wasm_call_ctors", "__wasm_apply_data_relocs"];

/** Reads numbers in the format LEB128. */
class Reader {
  readonly #bytes: Buffer;
  offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  byte(): number {
    const byte = this.#bytes.readUInt8(this.offset);
    this.offset += 1;
    return byte;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const length = this.number();
    this.offset += length;
    return this.#bytes.toString("utf8", this.offset - length, this.offset);
  }
}

function encode(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function withoutExports(section: Buffer, isUsed: (name: string) => boolean): Buffer {
  const reader = new Reader(section);
  const kept: Buffer[] = [];
  for (let left = reader.number(); left > 0; left -= 1) {
    const start = reader.offset;
    const name = reader.text();
    reader.byte();
    reader.number();
    if (isUsed(name)) kept.push(section.subarray(start, reader.offset));
  }
  return Buffer.concat([encode(kept.length), ...kept]);
}

/** A side module refers to its own functions and variables by name too, as imports: these stay. */
export function removeUnusedExports(module: Buffer): Buffer {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(module));
  const used = new Set([...imports.map(({ name }) => name), ...entryPoints]);
  const parts = [module.subarray(0, headerBytes)];
  const reader = new Reader(module, headerBytes);
  while (reader.offset < module.length) {
    const id = reader.byte();
    const length = reader.number();
    const section = module.subarray(reader.offset, reader.offset + length);
    const content = id === exportSection ? withoutExports(section, (name) => used.has(name)) : section;
    parts.push(Buffer.from([id]), encode(content.length), content);
    reader.offset += length;
  }
  return Buffer.concat(parts);
}
