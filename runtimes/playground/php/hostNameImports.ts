/** The functions of the C library that look up host names. PHP waits until they return. */
import { isIP } from "node:net";
import type { HostNames } from "./hostNames.ts";

/** The used part of the Emscripten module. */
export interface PhpMemory {
  readonly HEAPU8: Uint8Array;
  UTF8ToString(pointer: number): string;
  stringToUTF8(text: string, pointer: number, maxBytes: number): void;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
}

type Imported = (...parameters: readonly number[]) => number;

const numericHost = 4;
const numericName = 1;
const unknownName = -2;
const internet = 2;

function bytesOf(address: string): readonly number[] {
  return address.split(".").map(Number);
}

function isImported(value: unknown): value is Imported {
  return typeof value === "function";
}

function requireImport(imports: Readonly<Record<string, unknown>>, name: string): Imported {
  const found = imports[name];
  if (!isImported(found)) throw new Error(`This PHP build has no function ${name}.`);
  return found;
}

/** Replaces `getaddrinfo`, `getnameinfo` and what `gethostbyname` calls. `memory` is PHP's, once there is one. */
export function hostNameImports(
  names: HostNames,
  memory: () => PhpMemory,
  original: Readonly<Record<string, unknown>>,
) {
  const getaddrinfo = requireImport(original, "getaddrinfo");
  const getnameinfo = requireImport(original, "getnameinfo");

  async function addressInfo(node: number, service: number, hints: number, result: number): Promise<number> {
    const { UTF8ToString, stringToUTF8, _malloc, _free } = memory();
    const address = await names.addressOf(UTF8ToString(node));
    if (address === null) return unknownName;
    const copy = _malloc(address.length + 1);
    stringToUTF8(address, copy, address.length + 1);
    try {
      return getaddrinfo(copy, service, hints, result);
    } finally {
      _free(copy);
    }
  }

  /** `socket` is a `sockaddr`. */
  async function nameInfo(parameters: readonly number[], socket: number): Promise<number> {
    const [, length = 0, node = 0, nodeBytes = 0, service = 0, serviceBytes = 0, flags = 0] = parameters;
    const name = await names.nameOf(
      memory()
        .HEAPU8.subarray(socket + 4, socket + 8)
        .join("."),
    );
    if (name === null || Buffer.byteLength(name) >= nodeBytes) return getnameinfo(...parameters);
    memory().stringToUTF8(name, node, nodeBytes);
    return service === 0 ? 0 : getnameinfo(socket, length, 0, 0, service, serviceBytes, flags);
  }

  return {
    getaddrinfo: (node: number, service: number, hints: number, result: number) => {
      const { HEAPU8, UTF8ToString } = memory();
      const isNumeric = node === 0 || isIP(UTF8ToString(node)) !== 0;
      const wantsNumeric = hints !== 0 && ((HEAPU8[hints] ?? 0) & numericHost) !== 0;
      return isNumeric || wantsNumeric
        ? getaddrinfo(node, service, hints, result)
        : addressInfo(node, service, hints, result);
    },
    /** Returns the address's bytes as a number. `gethostbyname` can't fail, so an unreachable host has the address 0.0.0.0. */
    _emscripten_lookup_name: async (name: number) => {
      const address = await names.addressOf(memory().UTF8ToString(name));
      return Buffer.from(bytesOf(address ?? "0.0.0.0")).readInt32LE();
    },
    getnameinfo: (...parameters: number[]) => {
      const [socket = 0, , node = 0, , , , flags = 0] = parameters;
      const wantsName = node !== 0 && (flags & numericName) === 0 && memory().HEAPU8[socket] === internet;
      return wantsName ? nameInfo(parameters, socket) : getnameinfo(...parameters);
    },
  };
}
