/** The keys that secondaries and this server sign their messages with. */
import { type Name, readName } from "./names.ts";
import type { DnsKey } from "./table.ts";

export interface Key {
  readonly name: Name;
  readonly algorithm: Name;
  /** As `node:crypto` calls it. */
  readonly digest: "sha256" | "sha512";
  readonly secret: Uint8Array;
}

/** Returns what is sealed in the table for the key of this name, or throws. */
export type OpenSecret = (keyName: string, sealed: Buffer) => Uint8Array;

/** By name. `onBroken` receives keys that can't be decrypted; they are not used. */
export function openKeys(
  written: readonly DnsKey[],
  openSecret: OpenSecret,
  onBroken: (key: string, error: unknown) => void,
): ReadonlyMap<Name, Key> {
  const keys = new Map<Name, Key>();
  for (const { name, algorithm, sealedSecret } of written) {
    try {
      const secret = openSecret(name, Buffer.from(sealedSecret, "base64"));
      const digest = algorithm === "hmac-sha512" ? "sha512" : "sha256";
      const key = { name: readName(name), algorithm: readName(algorithm), digest, secret } as const;
      keys.set(key.name, key);
    } catch (error) {
      onBroken(name, error);
    }
  }
  return keys;
}
