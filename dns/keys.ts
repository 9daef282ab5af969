/** Keys with which secondaries and this server sign messages. */
import { type Name, readName } from "./names.ts";
import type { DnsKey } from "./table.ts";

export interface Key {
  readonly name: Name;
  readonly algorithm: Name;
  /** The digest's name in `node:crypto`. */
  readonly digest: "sha256" | "sha512";
  readonly secret: Uint8Array;
}

/** Decrypts the secret of a key. Throws if that fails. */
export type OpenSecret = (keyName: string, sealed: Buffer) => Uint8Array;

/** Decrypts keys. Returns them by name. `onBroken` is called for keys that can't be decrypted; they are not used. */
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
