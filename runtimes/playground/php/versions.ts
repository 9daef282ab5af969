/** The available PHP versions. */
import { SupportedPHPVersions } from "@php-wasm/universal";

/** Older versions have no opcode cache in shared memory under WebAssembly. */
const oldestPhp = "8.1";

/** Versions in ascending order. */
export const phpVersions: readonly string[] = SupportedPHPVersions.filter(
  (version) => Number(version) >= Number(oldestPhp),
).toSorted((a, b) => Number(a) - Number(b));
