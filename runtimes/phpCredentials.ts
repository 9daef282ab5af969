/**
 * Credentials with which an environment's PHP process shows the edge which environment it belongs to. The process gets its
 * own with its environment. PHP code can't read it, and none of another environment can be computed from it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { EnvironmentRef } from "./runtime.ts";

export interface PhpCredentials {
  /** Returns the credential of an environment: one line of printable ASCII. */
  of(environment: EnvironmentRef): string;
  /** Returns the environment that a credential belongs to, or null if it is not valid. */
  environmentOf(credential: string): EnvironmentRef | null;
}

/** Keys that all processes of an installation share and no one else knows. They can change while they are used. */
interface Keys {
  newest(): { readonly bytes: Uint8Array };
  all(): readonly { readonly bytes: Uint8Array }[];
}

const purpose = "sitewright php credentials";

function proofOf(name: string, { bytes }: { readonly bytes: Uint8Array }): Buffer {
  const key = Buffer.from(hkdfSync("sha256", bytes, "", purpose, 32));
  return createHmac("sha256", key).update(name).digest();
}

/** Credentials of older keys stay valid. */
export function createPhpCredentials(keys: Keys): PhpCredentials {
  return {
    of: ({ id, number }) => `${number} ${id} ${proofOf(`${number} ${id}`, keys.newest()).toString("base64url")}`,
    environmentOf: (credential) => {
      const [, name = "", number = "", id = "", proof = ""] = /^((\d+) (\S+)) (\S+)$/.exec(credential) ?? [];
      const found = Buffer.from(proof, "base64url");
      const isValid = keys.all().some((key) => {
        const expected = proofOf(name, key);
        return found.length === expected.length && timingSafeEqual(found, expected);
      });
      return isValid ? { id, number: Number(number) } : null;
    },
  };
}
