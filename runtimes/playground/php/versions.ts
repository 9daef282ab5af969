/** The versions of PHP on offer. */
import { SupportedPHPVersions } from "@php-wasm/universal";

/** Older ones have no opcode cache in shared memory under WebAssembly. */
const oldestPhp = "8.1";

/** Ascending. */
export const phpVersions: readonly string[] = SupportedPHPVersions.filter(
  (version) => Number(version) >= Number(oldestPhp),
).toSorted((a, b) => Number(a) - Number(b));
